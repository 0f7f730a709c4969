#include "runtime/core/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ((Shape{2, 3}).num_elements(), 6);
  EXPECT_EQ((Shape{2, 0, 3}).num_elements(), 0);
  EXPECT_EQ((TensorType{DType::kBF16, {2, 3}}).byte_size(), 12);
}

TEST(ShapeTest, StridesAreRowMajor) {
  EXPECT_THAT((Shape{2, 3, 4}).Strides(), ElementsAre(12, 4, 1));
  EXPECT_THAT(Shape().Strides(), IsEmpty());
}

TEST(ShapeTest, NegativeAxesCountFromTheEnd) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.dim(-1), 4);
  EXPECT_EQ(shape.dim(0), 2);
  EXPECT_EQ(*NormalizeAxis(-3, 3), 0);
  EXPECT_EQ(*NormalizeAxis(2, 3), 2);
  EXPECT_EQ(NormalizeAxis(3, 3).status().message(),
            "axis 3 is out of range for a tensor of rank 3");
  EXPECT_FALSE(NormalizeAxis(-4, 3).ok());
  EXPECT_FALSE(NormalizeAxis(0, 0).ok());
}

TEST(TensorTypeTest, TextRoundTrips) {
  for (const char* text : {"f32[]", "bf16[2,3]", "i64[0]", "bool[1,1,1]", "u8[7]", "i32[2,0,3]"}) {
    const auto type = ParseTensorType(text);
    ASSERT_TRUE(type.ok()) << type.status();
    EXPECT_EQ(type->ToString(), text);
  }
}

TEST(TensorTypeTest, RefusesMalformedText) {
  for (const char* text :
       {"", "f32", "[2]", "f64[2]", "f32[2", "f32[-1]", "f32[2,]", "f32[,2]", "f32[2,,3]",
        "f32[2;3]", "f32[]]", "f32[99999999999999999999]", "f32[4294967296,4294967296]"}) {
    EXPECT_EQ(ParseTensorType(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(ParseTensorType("f32[2,x]").status().message(), HasSubstr("bad dimension 'x'"));
}

}  // namespace
}  // namespace trencadis
