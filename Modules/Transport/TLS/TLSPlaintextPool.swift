internal import NIOCore
internal import NIOPosix

/// Memory for bytes that were deciphered, used again as soon as nobody has it any more.
///
/// Without it, a body's reader frees on one thread what the event loop asked for on another, and the C library hands the
/// pages back to the system each time: the next bytes need new ones, mapped and cleared by the kernel.
///
/// There is one for each event loop and not for each connection, so that idle connections hold nothing.
final class TLSPlaintextPool {
    /// All buffers together hold one mebibyte at most.
    private static let (mostBuffers, mostBytes) = (16, 65_536)

    // SAFETY: each thread has a value of its own there, and the variable's own bookkeeping is the system's.
    nonisolated(unsafe) private static let pools = ThreadSpecificVariable<TLSPlaintextPool>()

    /// The pool of the event loop that runs on this thread.
    static var current: TLSPlaintextPool {
        if let pool = pools.currentValue { return pool }
        let pool = TLSPlaintextPool()
        pools.currentValue = pool
        return pool
    }

    private var buffers: [ByteBuffer] = []
    /// The buffer that was used last.
    private var position = 0

    /// Lets `fill` write into an empty buffer with room for so many bytes, or for the most that a buffer here has, and
    /// returns the buffer with what `fill` returned. `fill` must not make it grow.
    func buffer<Result>(
        capacity: Int, _ fill: (inout ByteBuffer) -> Result
    ) -> (buffer: ByteBuffer, result: Result) {
        let capacity = min(capacity, Self.mostBytes)
        for _ in buffers.indices {
            position = (position + 1) % buffers.count
            // One that is much too large would be held by whoever holds the few bytes in it.
            guard (capacity..<(2 * capacity)).contains(buffers[position].capacity) else { continue }
            let result = buffers[position].modifyIfUniquelyOwned { buffer in
                buffer.clear()
                return fill(&buffer)
            }
            if let result { return (buffers[position], result) }
        }
        var buffer = ByteBufferAllocator().buffer(capacity: capacity)
        let result = fill(&buffer)
        add(buffer)
        return (buffer, result)
    }

    private func add(_ buffer: ByteBuffer) {
        if buffers.count < Self.mostBuffers {
            buffers.append(buffer)
        } else {
            // Somebody has it still; whoever has it last frees it.
            position = (position + 1) % buffers.count
            buffers[position] = buffer
        }
    }
}
