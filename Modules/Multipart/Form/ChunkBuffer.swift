import FoundationEssentials

/// Memory for one chunk, which becomes a `Data` without being copied or cleared.
final class ChunkBuffer {
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    private var isTaken = false
    var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        if !isTaken { memory.deallocate() }
    }

    var room: Int { isTaken ? 0 : capacity - count }

    var unused: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory + count, count: room)
    }

    /// Copies what fits; returns how much that is.
    func append(_ data: Data) -> Int {
        let taken = data.copyBytes(to: unused, count: min(room, data.count))
        count += taken
        return taken
    }

    /// The bytes, or nil if there are none. The buffer has no room afterwards.
    func take() -> Data? {
        guard count > 0, !isTaken else { return nil }
        isTaken = true
        return Data(bytesNoCopy: memory, count: count, deallocator: .custom { memory, _ in memory.deallocate() })
    }
}
