import CompressionSupport
import FoundationEssentials
import Testing

@testable import LinnetCompression

/// RFC 1950 and RFC 1951.
@Suite(.timeLimit(.minutes(1)))
struct DeflateTests {
    private let text = Data(String(repeating: "A linnet is a small finch. ", count: 10).utf8)
    private let raw = ContentCoding(
        "raw", makeDecoder: { () throws(CompressionError) -> any ContentTransform in DeflateDecoder() },
        makeEncoder: { () throws(CompressionError) -> any ContentTransform in try DeflateEncoder(.deflate) })

    /// RFC 9110, section 8.4.1.2, notes that some servers send the format without its wrapper.
    @Test func theFormatWithoutItsWrapperIsUnderstood() throws {
        let encoded = try raw.encoded(text)
        #expect(encoded[0] & 0x0F != 8)
        #expect(try ContentCoding.deflate.decoded(encoded) == text)
        try CodingExpectations(raw).expectRoundTrips()
        try CodingExpectations(raw).expectCutsAreFound()
        try CodingExpectations(raw).expectTrailingBytesAreFound()
    }

    @Test func theShortestContentsAreUnderstood() throws {
        // A fixed block of nothing, and the same in the zlib format.
        #expect(try ContentCoding.deflate.decoded(Data([3, 0])).isEmpty)
        #expect(try ContentCoding.deflate.decoded(Data([0x78, 0x9C, 3, 0, 0, 0, 0, 1])).isEmpty)
        #expect(code { try ContentCoding.deflate.decoded(Data([0x78])) } == .truncated)
        #expect(code { try ContentCoding.deflate.decoded(Data([3])) } == .truncated)
    }

    /// RFC 1950, section 2.2: CMF and FLG, FDICT, ADLER32.
    @Test func wrappersAreVerified() throws {
        let good = try ContentCoding.deflate.encoded(text)
        #expect(good[0] == 0x78)
        // A dictionary that only the two parties know.
        #expect(
            code { try ContentCoding.deflate.decoded(Data([0x78, 0xBB, 0, 0, 0, 1]) + good.dropFirst(2)) }
                == .invalidData)
        for back in 1...4 {
            var bad = good
            bad[good.count - back] ^= 1
            #expect(code { try ContentCoding.deflate.decoded(bad) } == .invalidData)
        }
        #expect(code { try ContentCoding.deflate.decoded(Data("no such content".utf8)) } == .invalidData)
    }
}
