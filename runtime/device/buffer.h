// Buffer: the bytes of one persistent tensor on a device.
//
// A buffer is accounted from its allocation until its last handle goes, in the order in which the
// host does both. Its bytes may live longer: work that was issued before holds on to the storage.
// On a metering device a buffer has no bytes.
#ifndef TRENCADIS_RUNTIME_DEVICE_BUFFER_H_
#define TRENCADIS_RUNTIME_DEVICE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device/memory_pool.h"
#include "runtime/device/memory_stats.h"

namespace trencadis {

// A block that goes back to its pool when the last holder lets go.
class Storage {
 public:
  Storage(std::shared_ptr<MemoryPool> pool, MemoryPool::Block block)
      : pool_(std::move(pool)), block_(block) {}
  ~Storage() { pool_->Release(block_); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return block_.data; }

 private:
  std::shared_ptr<MemoryPool> pool_;
  MemoryPool::Block block_;
};

using StoragePtr = std::shared_ptr<Storage>;

class Buffer;
using BufferPtr = std::shared_ptr<Buffer>;

class Buffer {
 public:
  // Made by Device::Allocate; `on_free` takes the bytes off the account.
  Buffer(int64_t bytes, StoragePtr storage, std::function<void()> on_free)
      : bytes_(bytes), storage_(std::move(storage)), on_free_(std::move(on_free)) {}
  ~Buffer() { on_free_(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  int64_t bytes() const { return bytes_; }
  // Null on a metering device.
  const StoragePtr& storage() const { return storage_; }

  // Promises that the contents never change again: products may keep a packed copy.
  void Freeze() { frozen_ = true; }
  bool frozen() const { return frozen_; }

  // Packed copies by layout key; they live as long as this buffer. Used by the thread that issues
  // work.
  std::map<std::string, BufferPtr>& packed_copies() { return packed_copies_; }

 private:
  int64_t bytes_;
  StoragePtr storage_;
  std::function<void()> on_free_;
  bool frozen_ = false;
  std::map<std::string, BufferPtr> packed_copies_;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_BUFFER_H_
