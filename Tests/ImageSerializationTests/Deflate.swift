import FoundationEssentials

/// Bits from the least significant one on, as DEFLATE (RFC 1951) and GIF have them.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var rest: UInt64 = 0
    private var restCount = 0

    mutating func write(_ value: Int, _ count: Int) {
        rest |= UInt64(value) << UInt64(restCount)
        restCount += count
        while restCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
            restCount -= 8
        }
    }

    /// Fills the last byte with zeros.
    mutating func align() { if restCount > 0 { write(0, 8 - restCount) } }
}

/// A zlib stream (RFC 1950) of some bytes and then one byte repeated, 0 or "A", a thousandth of their size.
func zlib(_ start: [UInt8] = [], _ byte: UInt8 = 0, count: Int) -> [UInt8] {
    var bits = BitWriter()
    if !start.isEmpty {
        bits.write(0, 3)
        bits.align()
        bits.write(start.count, 16)
        bits.write(~start.count & 0xFFFF, 16)
        for byte in start { bits.write(Int(byte), 8) }
    }
    // Codes of one bit for 258 bytes and for their distance, of two bits for the byte and the end.
    bits.write(1 | 2 << 1 | 29 << 3 | 0 << 8 | 14 << 13, 17)
    for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
        bits.write([18: 1, 1: 2, 2: 2][symbol] ?? 0, 3)
    }
    // The lengths of the codes, with runs of zeros between them.
    func zeros(_ count: Int) {
        guard count > 0 else { return }
        let run = min(count, 138)
        bits.write((run - 11) << 1, 8)
        zeros(count - run)
    }
    zeros(Int(byte))
    bits.write(0b11, 2)
    zeros(255 - Int(byte))
    bits.write(0b11, 2)
    zeros(28)
    for _ in 0..<2 { bits.write(0b01, 2) }
    let repeated = max(count - 1, 0) / 258
    for _ in 0..<(count - repeated * 258) { bits.write(0b01, 2) }
    for _ in 0..<repeated { bits.write(0, 2) }
    bits.write(0b11, 2)
    bits.align()
    var (low, high) = (1, 0)
    for byte in start {
        low = (low + Int(byte)) % 65_521
        high = (high + low) % 65_521
    }
    high = (high + low * count + Int(byte) * (count * (count + 1) / 2 % 65_521)) % 65_521
    low = (low + Int(byte) * count) % 65_521
    return [0x78, 0x9C] + bits.bytes + [high >> 8, high & 0xFF, low >> 8, low & 0xFF].map { UInt8($0) }
}
