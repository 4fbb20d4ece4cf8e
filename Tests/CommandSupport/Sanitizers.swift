#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// Whether the program runs under the address or the thread sanitizer, which distort memory measurements.
public let isSanitized = ["__asan_init", "__tsan_init"].contains { (name: String) in dlsym(nil, name) != nil }
