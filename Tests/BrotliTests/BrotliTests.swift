import CompressionSupport
import FoundationEssentials
import LinnetBrotli
import LinnetCompression
import Testing

/// RFC 7932.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BrotliTests {
    private let expectations = CodingExpectations(.brotli)

    @Test func itsNameIsBr() throws {
        #expect(ContentCoding.brotli.name == "br")
        #expect(ContentCoding.acceptEncoding([.gzip, .brotli]) == "gzip, br")
        #expect(try ContentCoding.codings(in: "br", among: [.gzip, .brotli]) == [.brotli])
    }

    @Test func contentSurvivesEncodingAndDecoding() throws { try expectations.expectRoundTrips() }

    @Test func contentThatEndsEarlyIsAnError() throws { try expectations.expectCutsAreFound() }

    @Test func bytesBehindTheContentAreAnError() throws { try expectations.expectTrailingBytesAreFound() }

    @Test func anyBytesEndInAResultOrAnError() throws {
        try expectations.expectAnyBytesEnd()
        try expectations.expectAnyBytesEnd(after: [0x1B])
    }

    @Test func tenGigabytesOfZerosAreStoppedByTheRatio() throws { try expectations.expectRatioStopsZeros() }

    @Test func tenGigabytesOfZerosAreStoppedByTheSize() throws { try expectations.expectSizeStopsZeros() }

    /// Section 9.1: the shortest stream, and one meta-block of literals without compression.
    @Test func streamsOfTheFormatAreUnderstood() throws {
        #expect(try ContentCoding.brotli.decoded(Data([0x06])).isEmpty)
        let hello = Data([0x0B, 0x05, 0x80]) + Data("hello world".utf8) + [0x03]
        #expect(try ContentCoding.brotli.decoded(hello) == Data("hello world".utf8))
    }

    /// Section 9.1: 0010001 is not valid; libraries use it for windows of up to 1 GiB.
    @Test func largerWindowsAreRefused() throws {
        let large = Data([0x11, 0x1E, 0x0B, 0x05, 0x80]) + Data("hello world".utf8) + [0x03]
        #expect(code { try ContentCoding.brotli.decoded(large) } == .invalidData)
    }
}
