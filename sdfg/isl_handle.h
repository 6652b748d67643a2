// Owning handles for isl objects. isl's own convention is kept: a failed operation gives null, null absorbs, and the
// reason is in the context; so a chain of operations is checked once, at its end (IslContext::ok). Internal to sdfg/.
#pragma once

#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>

#include <memory>
#include <string>
#include <utility>

#include "sdfg/result.h"

namespace sous::sdfg {

template <class T, T* (*Copy)(T*), T* (*Free)(T*)>
class IslHandle {
 public:
  IslHandle() = default;
  explicit IslHandle(T* owned) : p_(owned) {}
  IslHandle(const IslHandle& o) : p_(o.p_ ? Copy(o.p_) : nullptr) {}
  IslHandle(IslHandle&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  IslHandle& operator=(IslHandle o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~IslHandle() {
    if (p_) Free(p_);
  }
  T* get() const { return p_; }                        // borrowed (isl's __isl_keep)
  T* copy() const { return p_ ? Copy(p_) : nullptr; }  // handed over (isl's __isl_take)
  T* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  T* p_ = nullptr;
};

using IslBasicSet = IslHandle<isl_basic_set, isl_basic_set_copy, isl_basic_set_free>;
using IslSet = IslHandle<isl_set, isl_set_copy, isl_set_free>;
using IslMap = IslHandle<isl_map, isl_map_copy, isl_map_free>;

// A context with an operation budget.
class IslContext {
 public:
  explicit IslContext(unsigned long budget) : ctx_(isl_ctx_alloc()), budget_(budget) {
    isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE);
    restart();
  }
  IslContext(const IslContext&) = delete;
  IslContext& operator=(const IslContext&) = delete;
  ~IslContext() { isl_ctx_free(ctx_); }

  isl_ctx* get() const { return ctx_; }
  // Gives the next query the whole budget.
  void restart() {
    isl_ctx_reset_error(ctx_);
    isl_ctx_reset_operations(ctx_);
    isl_ctx_set_max_operations(ctx_, budget_);
  }
  Result<void> ok() const {
    if (isl_ctx_last_error(ctx_) == isl_error_none) return {};
    if (isl_ctx_last_error(ctx_) == isl_error_quota)
      return fail("isl.budget", "the dependence analysis needs more than " + std::to_string(budget_) + " operations");
    const char* message = isl_ctx_last_error_msg(ctx_);
    return fail("isl.error", std::string("isl: ") + (message ? message : "unknown error"));
  }

 private:
  isl_ctx* ctx_;
  unsigned long budget_;
};

}  // namespace sous::sdfg
