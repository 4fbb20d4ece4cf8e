internal import LinnetSecurity
internal import LinnetSerialization
internal import NIOCore
internal import Synchronization

/// The SHA-256 of the first bytes of a part.
///
/// One thread at a time uses it, so its lock is free whenever it is taken; it lets the digest pass between threads.
final class PartDigest: Sendable {
    private struct State {
        let hasher = SHA256Hasher()
        var count: Int64 = 0
    }

    private let state = Mutex(State())

    /// The number of digested bytes.
    var count: Int64 { state.withLock { $0.count } }
    /// The digest in hexadecimal.
    var hexadecimal: String { state.withLock { $0.hasher.hexadecimalDigest } }

    /// Adds bytes that were written to the part.
    func add(_ buffers: some Collection<ByteBuffer>) {
        state.withLock { state in
            for buffer in buffers {
                buffer.withUnsafeReadableBytes { state.hasher.update($0) }
                state.count += Int64(buffer.readableBytes)
            }
        }
    }

    /// Adds the bytes of the file up to an offset. Blocks.
    func add(_ descriptor: Int32, _ path: String, upTo end: Int64) throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            guard end > state.count else { return }
            try SystemFile.hash(descriptor, path, state.count..<end, into: state.hasher)
            state.count = end
        }
    }

    /// The digest in hexadecimal after the bytes of the file up to an offset, which are not added. Blocks.
    func hexadecimal(_ descriptor: Int32, _ path: String, upTo end: Int64) throws(FileFailure) -> String {
        try state.withLock { state throws(FileFailure) in
            guard end > state.count else { return state.hasher.hexadecimalDigest }
            let longer = state.hasher.copy()
            try SystemFile.hash(descriptor, path, state.count..<end, into: longer)
            return longer.hexadecimalDigest
        }
    }
}
