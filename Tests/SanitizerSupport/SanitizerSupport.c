// Sanitizer settings for libraries that are not instrumented. Linked into the tests only.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

// The programs that the tests start do not have what follows, and would report what it explains to the sanitizer. What they are
// made of is checked in the tests' own process. Here, too late for that process, for those that it starts.
__attribute__((constructor)) static void setOptionsOfPrograms(void) { setenv("TSAN_OPTIONS", "report_bugs=0", 0); }

// NIO reuses a receive buffer when isKnownUniquelyReferenced returns true. The reference count is in the Swift runtime, which
// is not instrumented, so the sanitizer does not see the order.
//
// When a continuation is resumed before its task waits for it, the task does not suspend, and the concurrency library does not
// report the order of the two to the sanitizer. The reported memory is the frame of the continuation, or what the task keeps in
// its place after it went on, while `resume(returning:)` (of UnsafeContinuation) had read from it.
const char *__tsan_default_suppressions(void) {
    return "race:NIOPooledRecvBufferAllocator\n"
           "race:$s7NIOCore10ByteBufferV8_StorageC\n"
           "race_top:withUnsafeContinuation\n"
           "race_top:sScc6resume9returning\n";
}

// The slow path of Synchronization.Mutex is in a library that is not instrumented: without these functions, the order of two
// threads that contend for a lock is not seen, and accesses to the guarded state are reported. They behave as the library's
// functions do, and inform the sanitizer.
extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

#define SELF __attribute__((swift_context)) void *self
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

typedef __attribute__((swiftcall)) void (*lock_function)(uint32_t thread, SELF);
typedef __attribute__((swiftcall)) void (*unlock_function)(SELF);
typedef __attribute__((swiftcall)) _Bool (*try_lock_function)(SELF);

__attribute__((swiftcall, visibility("default"))) void linnet_lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
__attribute__((swiftcall, visibility("default"))) void linnet_unlock_slow(SELF) __asm__(UNLOCK_SLOW);
__attribute__((swiftcall, visibility("default"))) _Bool linnet_try_lock_slow(SELF) __asm__(TRY_LOCK_SLOW);

__attribute__((swiftcall)) void linnet_lock_slow(uint32_t thread, SELF) {
    lock_function real = (lock_function)dlsym(RTLD_NEXT, LOCK_SLOW);
    real(thread, self);
    __tsan_acquire(self);
}

__attribute__((swiftcall)) void linnet_unlock_slow(SELF) {
    unlock_function real = (unlock_function)dlsym(RTLD_NEXT, UNLOCK_SLOW);
    __tsan_release(self);
    real(self);
}

__attribute__((swiftcall)) _Bool linnet_try_lock_slow(SELF) {
    try_lock_function real = (try_lock_function)dlsym(RTLD_NEXT, TRY_LOCK_SLOW);
    _Bool isLocked = real(self);
    if (isLocked) __tsan_acquire(self);
    return isLocked;
}

#elif __has_feature(address_sanitizer)

// The programs that the tests start end by `exit`, with what they still use.
__attribute__((constructor)) static void setOptionsOfPrograms(void) { setenv("ASAN_OPTIONS", "detect_leaks=0", 0); }

// False reports of the leak checker, each by a part of a function's name (without its first `$`, which matches the end). The
// checker recognizes only unmodified pointers. (CObjectLedger excludes the storage of Data and of bytes in an enum.) Names of
// Linnet must not be listed here.
const char *__lsan_default_suppressions(void) {
    // An object with weak references has its counts in a side table, whose address it stores shifted by three bits.
    return "leak:formWeakReference\n"
           // The queue of a NIO thread pool, in an enum that modifies the pointer: `.running` of NIOThreadPool.State. It is made at the
           // start, and again where it grows.
           "leak:s8NIOPosix13NIOThreadPoolC6_start\n"
           "leak:s8NIOPosix13NIOThreadPoolC7_submit\n"
           // An array that is copied from a slice: the standard library makes it inside of itself, where CObjectLedger does not see it.
           // Told where an enum holds it and marks the pointer, as the names in a certificate do.
           "leak:ss32_copyCollectionToContiguousArray\n"
           // Foundation leaks a page for each empty file that is read as Data; Linnet reads none.
           "leak:s20FoundationEssentials17readBytesFromFile\n"
           // Foundation leaks the error of an archive that is no property list.
           "leak:__CFPropertyListCreateError\n";
}

#endif
#endif
