// What almost every test includes, compiled once a build.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/precompiled.h"
