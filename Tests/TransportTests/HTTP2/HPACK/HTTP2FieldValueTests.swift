import HTTPTypes
import Testing

@testable import LinnetTransport

@Suite("Values of fields over HTTP/2", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct HTTP2FieldValueTests {
    private func section(_ name: String, _ value: String) throws -> HTTP2FieldSection {
        var block: [UInt8] = [0x88]
        for text in [name, value] { block += [UInt8(text.utf8.count)] + text.utf8 }
        block.insert(0, at: 1)
        var decoder = HTTP2FieldDecoder(maximumListSize: 4096)
        return try block.withUnsafeBytes { bytes in try decoder.decode(bytes) }
    }

    /// RFC 9113, 8.2.1: a message with one of these values is malformed.
    @Test(arguments: [" a", "a ", "\ta", "a\t", " ", "\t"]) func aBlankAtItsEndsIsMalformed(value: String) throws {
        #expect(try section("x", value).flaw == .outerBlank)
        #expect(try section("content-length", value).flaw == .outerBlank)
    }

    @Test(arguments: ["", "a", "a b", "a\tb"]) func otherBlanksAreKept(value: String) throws {
        let section = try section("x", value)
        #expect(section.flaw == nil)
        #expect(section.fields.map(\.value) == [value])
    }

    @Test(arguments: [("0005", 5), ("000000000000000000000000000007", 7), ("0", 0)])
    func aLengthMayHaveLeadingZeros(value: String, length: Int64) throws {
        let section = try section("content-length", value)
        #expect(section.flaw == nil)
        #expect(section.contentLength == length)
    }
}
