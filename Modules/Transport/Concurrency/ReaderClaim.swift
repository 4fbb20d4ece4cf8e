internal import Synchronization

/// The claim to a body that has only one reader, part of what all copies of the body share.
package struct ReaderClaim: ~Copyable, Sendable {
    private let isTaken = Atomic(false)

    package init() {}

    /// Returns whether the reader that is made is the first.
    package borrowing func take() -> Bool {
        // Relaxed, since no other memory is published with the flag.
        !isTaken.exchange(true, ordering: .relaxed)
    }
}
