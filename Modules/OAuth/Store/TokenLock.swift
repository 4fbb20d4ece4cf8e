internal import LinnetSerialization
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A lock that one task of all processes of a user holds. The kernel releases it when the process ends.
///
/// It is on a file of its own, because replacing a locked file would leave two processes with locks on different files.
package final class TokenLock: Sendable {
    private let descriptor: Int32
    private let path: String
    private let isOpen = Atomic(true)

    init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { release() }

    /// Waits for the lock on the file beside a path, with the suffix `.lock`.
    ///
    /// A blocking flock(2) would keep a thread, and could not be cancelled, so the lock is polled.
    package static func take(beside path: String) async throws -> TokenLock {
        while true {
            let lock = try await onFileThreads { try TokenFile(path: path).openLock() }
            var pause = Duration.milliseconds(2)
            while try !lock.take() {
                do {
                    try await Task.sleep(for: pause)
                } catch {
                    throw OAuthError.cancelled
                }
                pause = min(pause * 2, .milliseconds(50))
            }
            if lock.isCurrent() { return lock }
        }
    }

    /// Takes the lock; returns false if another process or another task has it.
    private func take() throws(OAuthError) -> Bool {
        if SystemCall.retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw TokenFile.failed(path, "cannot be locked") }
        return false
    }

    /// Whether the lock is on the file that others open, and not on one that was removed meanwhile.
    private func isCurrent() -> Bool {
        var (own, present) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(path, &present) == 0 && own.st_dev == present.st_dev
            && own.st_ino == present.st_ino
    }

    /// Releases the lock. Only the first call has an effect.
    package func release() {
        if isOpen.exchange(false, ordering: .acquiringAndReleasing) { close(descriptor) }
    }
}
