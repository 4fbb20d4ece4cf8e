/// Received bytes with bounds-checked reads: a read past the end returns nil.
///
/// Netlink uses the byte order of the machine.
struct NetlinkBytes: Sendable {
    private let storage: ArraySlice<UInt8>

    init(_ storage: ArraySlice<UInt8>) { self.storage = storage }

    var count: Int { storage.count }

    func uint8(at offset: Int) -> UInt8? { integer(at: offset) }
    func uint16(at offset: Int) -> UInt16? { integer(at: offset) }
    func uint32(at offset: Int) -> UInt32? { integer(at: offset) }
    func int32(at offset: Int) -> Int32? { integer(at: offset) }

    /// The bytes from `start` up to `end`; nil when the range is out of bounds.
    func slice(from start: Int, to end: Int) -> NetlinkBytes? {
        guard start >= 0, start <= end, end <= storage.count else { return nil }
        return NetlinkBytes(storage[(storage.startIndex + start)..<(storage.startIndex + end)])
    }

    /// The text up to the first NUL byte or the end.
    var text: String { String(decoding: storage.prefix { $0 != 0 }, as: UTF8.self) }

    var array: [UInt8] { Array(storage) }

    private func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Value? {
        guard offset >= 0, offset <= storage.count - MemoryLayout<Value>.size else { return nil }
        return storage.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
    }
}

extension NetlinkBytes {
    /// Rounds a length up to netlink's alignment of four bytes.
    static func aligned(_ length: Int) -> Int {
        (length + NetlinkHeader.alignment - 1) & ~(NetlinkHeader.alignment - 1)
    }

    /// Calls the closure for each attribute from `offset` to the end. Returns false when an attribute is malformed.
    func forEachAttribute(from offset: Int, _ body: (_ type: UInt16, _ value: NetlinkBytes) -> Void) -> Bool {
        var position = offset
        while position < count {
            guard let length = uint16(at: position), let type = uint16(at: position + 2), length >= 4,
                let value = slice(from: position + 4, to: position + Int(length))
            else { return false }
            body(type & NetlinkAttributeType.mask, value)
            position += Self.aligned(Int(length))
        }
        return true
    }
}
