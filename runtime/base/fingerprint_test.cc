#include "runtime/base/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace trencadis {
namespace {

std::vector<std::byte> Counting(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

// The digest in the byte order of the published test vectors.
std::string VectorHex(const Fingerprint128& value) {
  return Fingerprint128{.low = __builtin_bswap64(value.high), .high = __builtin_bswap64(value.low)}
      .ToHex();
}

// Key 00..0f, message 00, 01, ...: from the reference implementation's vectors_sip128, and for the
// longer ones `openssl mac -macopt size:16 SIPHASH`.
TEST(FingerprintTest, MatchesTheReferenceVectors) {
  const std::pair<size_t, const char*> kVectors[] = {
      {0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
      {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},  {8, "3b62a9ba6258f5610f83e264f31497b4"},
      {15, "5493e99933b0a8117e08ec0f97cfc3d9"}, {63, "5150d1772f50834a503e069a973fbd7c"},
  };
  for (const auto& [size, expected] : kVectors) {
    Fingerprinter fingerprinter(0x0706050403020100, 0x0f0e0d0c0b0a0908);
    fingerprinter.AddBytes(Counting(size));
    EXPECT_EQ(VectorHex(fingerprinter.Finish()), expected) << size << " bytes";
  }
}

TEST(FingerprintTest, BytesMayBeCutAnywhere) {
  const std::vector<std::byte> bytes = Counting(41);
  const Fingerprint128 whole = FingerprintOf(bytes);
  for (size_t first = 0; first <= bytes.size(); ++first) {
    for (size_t second = first; second <= bytes.size(); ++second) {
      const absl::Span<const std::byte> span(bytes);
      Fingerprinter cut;
      cut.AddBytes(span.subspan(0, first))
          .AddBytes(span.subspan(first, second - first))
          .AddBytes(span.subspan(second));
      ASSERT_EQ(cut.Finish(), whole) << first << " " << second;
    }
  }
}

TEST(FingerprintTest, NumbersTakeEightBytesAtAnyOffset) {
  for (size_t offset = 0; offset < 8; ++offset) {
    std::vector<std::byte> bytes = Counting(offset);
    Fingerprinter typed;
    typed.AddBytes(bytes).Add(int8_t{-2}).AddBytes(Counting(3));
    bytes.push_back(std::byte{0xfe});
    for (int i = 0; i < 7; ++i) bytes.push_back(std::byte{0xff});
    for (std::byte byte : Counting(3)) bytes.push_back(byte);
    EXPECT_EQ(typed.Finish(), FingerprintOf(bytes)) << offset;
  }
}

TEST(FingerprintTest, IntegersDoNotDependOnTheirWidth) {
  EXPECT_EQ(Fingerprinter().Add(int32_t{-1}).Finish(), Fingerprinter().Add(int64_t{-1}).Finish());
  EXPECT_EQ(Fingerprinter().Add(true).Finish(), Fingerprinter().Add(1).Finish());
  enum class Color : uint8_t { kRed = 7 };
  EXPECT_EQ(Fingerprinter().Add(Color::kRed).Finish(), Fingerprinter().Add(7).Finish());
}

TEST(FingerprintTest, FloatsCountByTheirBits) {
  EXPECT_NE(Fingerprinter().Add(0.0f).Finish(), Fingerprinter().Add(-0.0f).Finish());
  EXPECT_NE(Fingerprinter().Add(0.0).Finish(), Fingerprinter().Add(-0.0).Finish());
  EXPECT_EQ(Fingerprinter().Add(1.0f).Finish(), Fingerprinter().Add(0x3f800000).Finish());
}

TEST(FingerprintTest, StringsAndSpansAreDelimited) {
  EXPECT_NE(Fingerprinter().Add("ab").Add("c").Finish(),
            Fingerprinter().Add("a").Add("bc").Finish());
  EXPECT_NE(Fingerprinter().Add("").Finish(), Fingerprinter().Finish());
  EXPECT_EQ(Fingerprinter().Add("abc").Finish(), Fingerprinter().Add(std::string("abc")).Finish());
  const std::vector<int64_t> one = {1}, two = {1, 2}, none;
  const absl::Span<const int64_t> one_span(one), two_span(two), empty_span(none);
  EXPECT_NE(Fingerprinter().AddSpan(one_span).AddSpan(two_span).Finish(),
            Fingerprinter().AddSpan(two_span).AddSpan(one_span).Finish());
  EXPECT_NE(Fingerprinter().AddSpan(empty_span).Finish(), Fingerprinter().Finish());
}

TEST(FingerprintTest, FinishLeavesTheStreamOpen) {
  Fingerprinter fingerprinter;
  fingerprinter.Add(1);
  const Fingerprint128 first = fingerprinter.Finish();
  EXPECT_EQ(fingerprinter.Finish(), first);
  EXPECT_EQ(fingerprinter.Add(2).Finish(), Fingerprinter().Add(1).Add(2).Finish());
}

TEST(FingerprintTest, CountersDoNotCollideInEitherHalf) {
  std::set<uint64_t> low, high;
  for (int i = 0; i < 100000; ++i) {
    const Fingerprint128 value = Fingerprinter().Add(i).Finish();
    low.insert(value.low);
    high.insert(value.high);
  }
  EXPECT_EQ(low.size(), 100000);
  EXPECT_EQ(high.size(), 100000);
}

TEST(FingerprintTest, HexRoundTrips) {
  const Fingerprint128 value{.low = 0x0123456789abcdef, .high = 0xfedcba9876543210};
  EXPECT_EQ(value.ToHex(), "fedcba98765432100123456789abcdef");
  EXPECT_EQ(*Fingerprint128::FromHex(value.ToHex()), value);
  for (const char* text :
       {"", "0123", "fedcba98765432100123456789abcdeg", "FEDCBA98765432100123456789ABCDEF"}) {
    EXPECT_EQ(Fingerprint128::FromHex(text).status().code(), absl::StatusCode::kInvalidArgument)
        << text;
  }
}

}  // namespace
}  // namespace trencadis
