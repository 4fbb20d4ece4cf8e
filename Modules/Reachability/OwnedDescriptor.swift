internal import Glibc

/// A file descriptor that is closed once, when its owner goes.
struct OwnedDescriptor: ~Copyable, Sendable {
    let number: Int32

    init(owning number: Int32) { self.number = number }

    deinit { close(number) }
}
