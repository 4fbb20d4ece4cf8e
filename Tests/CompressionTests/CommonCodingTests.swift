import CompressionSupport
import FoundationEssentials
import LinnetCompression
import Testing

@Suite(.serialized, .timeLimit(.minutes(5)))
struct CommonCodingTests {
    private static let codings: [ContentCoding] = [.gzip, .deflate]

    @Test(arguments: codings) func contentSurvivesEncodingAndDecoding(coding: ContentCoding) throws {
        try CodingExpectations(coding).expectRoundTrips()
    }

    @Test(arguments: codings) func contentThatEndsEarlyIsAnError(coding: ContentCoding) throws {
        try CodingExpectations(coding).expectCutsAreFound()
    }

    @Test(arguments: codings) func bytesBehindTheContentAreAnError(coding: ContentCoding) throws {
        try CodingExpectations(coding).expectTrailingBytesAreFound()
        try CodingExpectations(coding).expectTrailingBytesAreFound(Array("garbage".utf8))
    }

    @Test(arguments: codings) func changedBitsAreFound(coding: ContentCoding) throws {
        try CodingExpectations(coding).expectChangesAreFound()
    }

    @Test(arguments: codings) func anyBytesEndInAResultOrAnError(coding: ContentCoding) throws {
        try CodingExpectations(coding).expectAnyBytesEnd()
        try CodingExpectations(coding).expectAnyBytesEnd(
            after: coding == .gzip ? [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] : [0x78, 0x9C])
    }

    @Test(arguments: codings) func tenGigabytesOfZerosAreStoppedByTheRatio(coding: ContentCoding) throws {
        try CodingExpectations(coding).expectRatioStopsZeros()
    }

    @Test(arguments: codings) func tenGigabytesOfZerosAreStoppedByTheSize(coding: ContentCoding) throws {
        try CodingExpectations(coding).expectSizeStopsZeros()
    }
}
