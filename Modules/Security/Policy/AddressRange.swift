/// The addresses that share a prefix (RFC 4632, 3.1; RFC 4291, 2.3).
struct AddressRange: Hashable, Sendable {
    /// Four bytes or sixteen; all bits behind the prefix are zero.
    let base: [UInt8]
    /// The number of bits that are fixed.
    let prefixLength: Int

    /// Nil when the prefix is longer than the address, or the address has bits set behind it.
    init?(_ base: [UInt8], prefixLength: Int) {
        guard (0...base.count * 8).contains(prefixLength), Self.masked(base, prefixLength) == base else { return nil }
        self.base = base
        self.prefixLength = prefixLength
    }

    /// Whether it is of one address alone.
    var isSingle: Bool { prefixLength == base.count * 8 }

    func contains(_ address: [UInt8]) -> Bool {
        address.count == base.count && Self.masked(address, prefixLength) == base
    }

    func contains(_ other: AddressRange) -> Bool {
        other.prefixLength >= prefixLength && contains(other.base)
    }

    /// The two ranges that are one bit narrower; nil for a single address.
    var halves: (AddressRange, AddressRange)? {
        var upper = base
        guard !isSingle else { return nil }
        upper[prefixLength / 8] |= 0x80 >> UInt8(prefixLength % 8)
        guard let low = AddressRange(base, prefixLength: prefixLength + 1),
            let high = AddressRange(upper, prefixLength: prefixLength + 1)
        else { return nil }
        return (low, high)
    }

    /// The address without the bits behind a prefix.
    static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let bits = min(max(length - index * 8, 0), 8)
            return byte & UInt8(truncatingIfNeeded: 0xFF << (8 - bits))
        }
    }

    /// What is never routed on the internet: this host, to which the system connects as to loopback; loopback, private use,
    /// link-local, shared (RFC 6890, 2.2; RFC 4193).
    static let privateRanges: [AddressRange] = [
        AddressRange([0, 0, 0, 0], prefixLength: 8), AddressRange(zeros(16), prefixLength: 128),
        AddressRange([10, 0, 0, 0], prefixLength: 8), AddressRange([172, 16, 0, 0], prefixLength: 12),
        AddressRange([192, 168, 0, 0], prefixLength: 16), AddressRange([127, 0, 0, 0], prefixLength: 8),
        AddressRange([169, 254, 0, 0], prefixLength: 16), AddressRange([100, 64, 0, 0], prefixLength: 10),
        AddressRange([0xFC] + zeros(15), prefixLength: 7), AddressRange([0xFE, 0x80] + zeros(14), prefixLength: 10),
        AddressRange(zeros(15) + [1], prefixLength: 128),
    ].compactMap { $0 }

    private static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
}
