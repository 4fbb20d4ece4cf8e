internal import LinnetCache
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A number in a file, replaced with each change of the index. Any process can tell cheaply whether its knowledge of
/// the index is still right.
///
/// The number is replaced before a change is committed, and again afterwards, so that reads in between become outdated.
/// If a process is killed in between, others may keep such a read. ``IndexMirror`` uses it only for a short time.
final class ChangeToken: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws(CacheError) {
        descriptor = SystemCall.retrying { open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600) }
        guard descriptor >= 0 else { throw .failedCall(path, "cannot be opened") }
        if number == nil { renew() }
    }

    /// The token of a read-only index. It has no number.
    init() { descriptor = -1 }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The current number; nil if it cannot be read.
    var number: UInt64? {
        var number: UInt64 = 0
        let count = withUnsafeMutableBytes(of: &number) { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return count == MemoryLayout<UInt64>.size ? number : nil
    }

    func renew() {
        var number = UInt64.random(in: .min ... .max)
        let count = withUnsafeBytes(of: &number) { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        // Without a number, no process reuses its earlier reads, which is safe.
        if count != MemoryLayout<UInt64>.size { _ = ftruncate(descriptor, 0) }
    }
}
