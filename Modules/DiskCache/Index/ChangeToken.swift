internal import LinnetCache
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A number in a file that is replaced with each change of the index, so that any process can tell cheaply whether what it knows
/// of the index is still right.
///
/// It is replaced before a change is committed, and again after it. What was read in between is outdated by the second number. A
/// process that is killed in between leaves what others have read then: ``IndexMirror`` does not use that for long.
final class ChangeToken: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws(CacheError) {
        descriptor = SystemCall.retrying { open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600) }
        guard descriptor >= 0 else { throw .failedCall(path, "cannot be opened") }
        if number == nil { renew() }
    }

    /// The token of an index that is only read. It has no number.
    init() { descriptor = -1 }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Nil if it cannot be read.
    var number: UInt64? {
        var number: UInt64 = 0
        let count = withUnsafeMutableBytes(of: &number) { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return count == MemoryLayout<UInt64>.size ? number : nil
    }

    func renew() {
        var number = UInt64.random(in: .min ... .max)
        let count = withUnsafeBytes(of: &number) { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        // Without a number, nothing that was read is used again.
        if count != MemoryLayout<UInt64>.size { _ = ftruncate(descriptor, 0) }
    }
}
