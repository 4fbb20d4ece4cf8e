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

extension NetlinkBytes {
    /// The header of a message (`struct nlmsghdr`) without its length.
    struct Header {
        var type: UInt16
        var flags: UInt16
        var sequence: UInt32
        var port: UInt32
    }

    /// Calls the closure for each message. Returns false when the bytes end within one.
    func forEachMessage(_ body: (_ header: Header, _ content: NetlinkBytes) -> Void) -> Bool {
        var position = 0
        while position < count {
            guard let length = uint32(at: position).flatMap(Int.init(exactly:)), let type = uint16(at: position + 4),
                let flags = uint16(at: position + 6), let sequence = uint32(at: position + 8),
                let port = uint32(at: position + 12), length <= count - position,
                let content = slice(from: position + NetlinkHeader.length, to: position + length)
            else { return false }
            body(Header(type: type, flags: flags, sequence: sequence, port: port), content)
            position += Self.aligned(length)
        }
        return true
    }
}
