// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// 2011): a random block for every counter, with no state between blocks.
#ifndef TRENCADIS_RUNTIME_CORE_PHILOX_H_
#define TRENCADIS_RUNTIME_CORE_PHILOX_H_

#include <array>
#include <cstdint>

namespace trencadis {

// Four random words for `counter` under `key`.
inline std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_CORE_PHILOX_H_
