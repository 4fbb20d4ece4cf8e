import CommandSupport
import CompressionSupport
import FoundationEssentials
import LinnetCompression
import Testing

/// RFC 1952.
@Suite(.timeLimit(.minutes(1)))
struct GzipTests {
    private let text = Data("A linnet is a small finch.".utf8)

    /// A member with these flags and optional fields, and with the text.
    private func member(flags: UInt8 = 0, _ optional: [UInt8] = [], method: UInt8 = 8) throws -> Data {
        Data([0x1F, 0x8B, method, flags, 0, 0, 0, 0, 0, 3]) + optional
            + (try ContentCoding.gzip.encoded(text)).dropFirst(10)
    }

    @Test func gzipOfTheSystemIsUnderstood() throws {
        let made = try Command.run(["sh", "-c", "printf 'A linnet is a small finch.' | gzip -9 -c"])
        try #require(made.status == 0)
        #expect(try ContentCoding.gzip.decoded(made.output) == text)
    }

    @Test func gzipOfTheSystemUnderstandsOurs() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "linnet-\(UUID().uuidString).gz")
        defer { try? FileManager.default.removeItem(at: file) }
        try ContentCoding.gzip.encoded(text).write(to: file)
        #expect(try Command.run(["gzip", "-dc", file.path]).output == text)
    }

    /// Section 2.2.
    @Test func membersFollowEachOther() throws {
        let one = try ContentCoding.gzip.encoded(text)
        #expect(try ContentCoding.gzip.decoded(one + one + one) == text + text + text)
        #expect(code { try ContentCoding.gzip.decoded(one + one.dropLast()) } == .truncated)
        #expect(code { try ContentCoding.gzip.decoded(one + [0x1F]) } == .truncated)
        #expect(code { try ContentCoding.gzip.decoded(one + [0x1F, 0]) } == .trailingBytes)
        // Also where the first byte of a member ends a chunk.
        let decoder = try ContentDecoder([.gzip])
        for chunk in [one, one.prefix(1), one.dropFirst()] {
            decoder.append(chunk)
            while try decoder.next() != nil {}
        }
        try decoder.finish()
    }

    /// Section 2.3.1: FTEXT, FEXTRA, FNAME, FCOMMENT.
    @Test(
        arguments: [
            (1, []), (4, [3, 0, 1, 2, 3]), (8, Array("name\0".utf8)), (16, Array("comment\0".utf8)),
            (29, [1, 0, 9] + Array("name\0comment\0".utf8)),
        ] as [(UInt8, [UInt8])]) func optionalFieldsAreSkipped(flags: UInt8, fields: [UInt8]) throws
    {
        #expect(try ContentCoding.gzip.decoded(try member(flags: flags, fields)) == text)
    }

    /// Section 2.3.1: FHCRC are the two least significant bytes of the CRC-32 of the header.
    @Test func theChecksumOfAHeaderIsVerified() throws {
        let header: [UInt8] = [0x1F, 0x8B, 8, 2, 0, 0, 0, 0, 0, 3]
        let sum = try checksum(Data(header))
        #expect(try ContentCoding.gzip.decoded(try member(flags: 2, Array(sum.prefix(2)))) == text)
        #expect(code { try ContentCoding.gzip.decoded(try member(flags: 2, [sum[0] ^ 1, sum[1]])) } == .invalidData)
    }

    /// Section 2.3.1.2: reserved flags must be zero, and another method is unknown.
    @Test func unknownHeadersAreRefused() throws {
        for flag in [0x20, 0x40, 0x80] as [UInt8] {
            #expect(code { try ContentCoding.gzip.decoded(try member(flags: flag)) } == .invalidData)
        }
        #expect(code { try ContentCoding.gzip.decoded(try member(method: 7)) } == .invalidData)
        #expect(code { try ContentCoding.gzip.decoded(text) } == .invalidData)
    }

    /// Section 2.3.1: CRC32 and ISIZE end a member.
    @Test func theChecksumAndTheLengthAreVerified() throws {
        let good = try ContentCoding.gzip.encoded(text)
        for back in 1...8 {
            var bad = good
            bad[good.count - back] ^= 0x10
            #expect(code { try ContentCoding.gzip.decoded(bad) } == .invalidData, "\(back) from the end")
        }
    }

    /// The CRC-32 of bytes, as the trailer of a member has it.
    private func checksum(_ bytes: Data) throws -> [UInt8] {
        Array(try ContentCoding.gzip.encoded(bytes).suffix(8).prefix(4))
    }
}
