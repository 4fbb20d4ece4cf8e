import Testing

@testable import LinnetTransport

@Suite("Bytes of HTTP/1.1", .timeLimit(.minutes(1)))
struct HTTP1BytesTests {
    @Test func digitsAndFieldBytes() {
        for byte in UInt8.min...UInt8.max {
            #expect(byte.isDecimalDigit == Array("0123456789".utf8).contains(byte), "\(byte)")
            #expect(byte.isFieldByte == (byte == 0x09 || byte >= 0x20 && byte != 0x7F), "\(byte)")
        }
    }

    /// Eight bytes are checked at once, and the rest one by one.
    @Test(arguments: [0, 8, 9, 0x0A, 0x0D, 0x1F, 0x20, 0x7E, 0x7F, 0x80, 0x9F, 0xFF] as [UInt8])
    func aControlCharacterIsNoticedInEachPlace(byte: UInt8) {
        for count in 1...24 {
            for place in 0..<count {
                for other in Array("a\t".utf8) {
                    var bytes = [UInt8](repeating: other, count: count)
                    bytes[place] = byte
                    let isValid = bytes.withUnsafeBytes { $0.holdsFieldBytesAlone }
                    #expect(isValid == byte.isFieldByte, "\(place) of \(count)")
                }
            }
        }
    }

    @Test func aNameMatchesInAnyCaseAndEachByteCounts() {
        for name in ["Content-Length", "content-length", "CONTENT-LENGTH"] {
            let bytes = Array("x\(name)x".utf8)
            bytes.withUnsafeBytes { all in
                #expect(all.matches(1..<15, "content-length"))
                #expect(!all.matches(0..<14, "content-length") && !all.matches(1..<14, "content-length"))
            }
            for place in 1..<15 {
                var other = bytes
                other[place] = UInt8(ascii: "_")
                #expect(!other.withUnsafeBytes { $0.matches(1..<15, "content-length") }, "\(place)")
            }
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("00", 0), ("1", 1), ("10", 10), ("0000000000000000000000000012", 12), ("", nil), ("1:", nil),
            ("/1", nil), ("-1", nil), (" 1", nil), ("999999999999999999", 999_999_999_999_999_999),
            ("1000000000000000000", nil),
        ] as [(String, Int64?)])
    func aContentLengthIsASingleNumber(text: String, length: Int64?) {
        #expect(Array(text.utf8).withUnsafeBytes { $0.contentLength } == length)
    }

    /// The bytes outside of the range do not count, though they are blanks.
    @Test(arguments: [
        ("abc", 0, 3), (" \ta\t ", 2, 3), ("a", 0, 1), (" a", 1, 2), ("a ", 0, 1), ("  ", 2, 2), ("", 0, 0),
        (" a b ", 1, 4),
    ])
    func blanksAroundAValueAreLeftOut(text: String, start: Int, end: Int) {
        let bytes = Array("\t\t\(text)\t\t".utf8)
        #expect(bytes.withUnsafeBytes { $0.trimmed(2..<bytes.count - 2) } == start + 2..<end + 2)
    }

    @Test(
        arguments: [("aba", 0, 0), ("aba", 1, 2), ("aba", 3, nil), ("bbb", 0, nil), ("", 0, nil)]
            as [(String, Int, Int?)])
    func theNextByteIsFound(text: String, start: Int, index: Int?) {
        #expect(Array(text.utf8).withUnsafeBytes { $0.firstIndex(of: UInt8(ascii: "a"), from: start) } == index)
    }
}
