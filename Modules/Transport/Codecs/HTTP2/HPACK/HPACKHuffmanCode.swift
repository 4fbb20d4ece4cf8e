/// The Huffman code of HPACK (RFC 7541, 5.2 and appendix B).
///
/// The code is canonical: codes of the same length are consecutive in the order of their bytes, followed by the codes
/// of the next length. The lengths therefore determine the code.
struct HPACKHuffmanCode: Sendable {
    static let shared = HPACKHuffmanCode()

    /// Codes up to this length are decoded with a table; it covers nearly all visible ASCII.
    private static let fastBits = 9
    private static let longest = 30

    /// The code of each byte, right-aligned.
    private var codes = [UInt32](repeating: 0, count: 257)
    /// Indexed by the next nine bits: the byte in the high half and the length of its code in the low one; 0 if the
    /// code is longer.
    private var fast = [UInt16](repeating: 0, count: 1 << fastBits)
    /// For each length, the first code and the index of its bytes in `ordered`.
    private var firstCodes = [UInt32](repeating: 0, count: longest + 2)
    private var offsets = [Int](repeating: 0, count: longest + 2)
    /// The bytes in code order; 256 is the end-of-string symbol, which is not written.
    private var ordered: [UInt16] = []

    private init() {
        var code: UInt32 = 0
        for length in 1...Self.longest {
            code <<= 1
            (firstCodes[length], offsets[length]) = (code, ordered.count)
            for symbol in Self.lengths.indices where Self.lengths[symbol] == length {
                codes[symbol] = code
                ordered.append(UInt16(symbol))
                fill(symbol, length: length)
                code += 1
            }
        }
        offsets[Self.longest + 1] = ordered.count
    }

    private mutating func fill(_ symbol: Int, length: Int) {
        guard length <= Self.fastBits else { return }
        let free = Self.fastBits - length
        let start = Int(codes[symbol]) << free
        for index in start..<start + 1 << free { fast[index] = UInt16(symbol) << 8 | UInt16(length) }
    }

    // MARK: Encoding

    func encodedLength(_ bytes: UnsafeRawBufferPointer) -> Int {
        (bytes.reduce(0) { $0 + Int(Self.lengths[Int($1)]) } + 7) / 8
    }

    /// Writes the coded bytes one by one.
    func encode(_ bytes: UnsafeRawBufferPointer, _ write: (UInt8) -> Void) {
        var (window, count) = (UInt64(0), 0)
        for byte in bytes {
            let length = Int(Self.lengths[Int(byte)])
            window = window << UInt64(length) | UInt64(codes[Int(byte)])
            count += length
            while count >= 8 {
                count -= 8
                write(UInt8(truncatingIfNeeded: window >> UInt64(count)))
            }
        }
        // The last byte is padded with the most significant bits of the end-of-string code, which are ones.
        if count > 0 { write(UInt8(truncatingIfNeeded: window << UInt64(8 - count)) | (0xFF >> UInt8(count))) }
    }

    // MARK: Decoding

    /// Appends the decoded bytes.
    func decode(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) throws(HPACKError) {
        // The next bits are left-aligned.
        var (window, count, position) = (UInt64(0), 0, 0)
        while true {
            while count <= 56, position < bytes.count {
                window |= UInt64(bytes[position]) << UInt64(56 - count)
                count += 8
                position += 1
            }
            let entry = fast[Int(window >> UInt64(64 - Self.fastBits))]
            let (symbol, length) = entry != 0 ? (entry >> 8, Int(entry & 0xFF)) : long(window)
            guard length <= count else { break }
            guard symbol < 256 else { throw .invalidHuffmanCode }
            output.append(UInt8(truncatingIfNeeded: symbol))
            window <<= UInt64(length)
            count -= length
        }
        // The remaining padding is less than a byte of ones (RFC 7541, 5.2).
        guard count < 8, window >> 56 == ~(0xFF >> UInt64(count)) & 0xFF else { throw .invalidHuffmanCode }
    }

    /// Decodes a code of more than nine bits.
    private func long(_ window: UInt64) -> (symbol: UInt16, length: Int) {
        for length in Self.fastBits + 1...Self.longest {
            let index = Int(window >> UInt64(64 - length)) - Int(firstCodes[length])
            let size = offsets[length + 1] - offsets[length]
            if index < size { return (ordered[offsets[length] + max(0, index)], length) }
        }
        return (256, Self.longest)
    }

    private static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
        28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
        6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
        20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
        24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
        21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
        19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
        20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
        // The end of a string.
        30,
    ]
}

/// A decoding error (RFC 7541), after which the tables of both ends may differ.
enum HPACKError: Error, Equatable {
    case truncated
    case integerTooLarge
    case invalidHuffmanCode
    case invalidIndex
    case invalidTableSize
    /// The field list exceeds the announced limit (RFC 9113, 6.5.2).
    case listTooLarge
}
