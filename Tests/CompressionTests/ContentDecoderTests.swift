import CommandSupport
import CompressionSupport
import FoundationEssentials
import LinnetCompression
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ContentDecoderTests {
    private let text = Data(String(repeating: "A linnet is a small finch. ", count: 1000).utf8)

    private func decode(
        _ content: Data, _ codings: [ContentCoding], _ limits: DecodingLimits = DecodingLimits()
    ) throws -> Data {
        let decoder = try ContentDecoder(codings, limits: limits)
        var (rest, decoded) = (content, Data())
        while !rest.isEmpty {
            decoder.append(rest.prefix(1000))
            rest = rest.dropFirst(1000)
            while let piece = try decoder.next() { decoded.append(piece) }
        }
        try decoder.finish()
        return decoded
    }

    /// RFC 9110, section 8.4: the codings are listed in the order in which they were applied.
    @Test func severalCodingsAreUndoneFromTheLast() throws {
        let coded = try ContentCoding.deflate.encoded(ContentCoding.gzip.encoded(text))
        #expect(try decode(coded, [.gzip, .deflate]) == text)
        #expect(code { try decode(coded, [.deflate, .gzip]) } == .invalidData)
        let five = try (0..<5).reduce(text) { content, _ in try ContentCoding.gzip.encoded(content) }
        #expect(try decode(five, Array(repeating: .gzip, count: 5)) == text)
    }

    @Test func theNumberOfCodingsIsLimited() throws {
        #expect(code { try ContentDecoder(Array(repeating: .gzip, count: 6)) } == .tooManyCodings)
        #expect(
            code { try ContentDecoder([.gzip], limits: DecodingLimits { $0.maximumCodings = 0 }) } == .tooManyCodings)
    }

    @Test func noCodingsPassTheContentOn() throws {
        #expect(try decode(text, []) == text)
    }

    /// Servers name a coding for empty bodies too.
    @Test func contentOfNoBytesIsComplete() throws {
        for codings in [[], [.gzip], [.deflate], [.gzip, .deflate]] as [[ContentCoding]] {
            #expect(try decode(Data(), codings).isEmpty)
        }
    }

    @Test func aCodingThatEndsEarlyWithinAnotherIsTruncated() throws {
        let coded = try ContentCoding.deflate.encoded(ContentCoding.gzip.encoded(text).dropLast())
        #expect(code { try decode(coded, [.gzip, .deflate]) } == .truncated)
    }

    @Test func slicesOfDataAreUnderstood() throws {
        let coded = Data([1, 2, 3]) + (try ContentCoding.gzip.encoded(text))
        #expect(try decode(coded.dropFirst(3), [.gzip]) == text)
    }

    @Test func anErrorStays() throws {
        let decoder = try ContentDecoder([.gzip])
        decoder.append(Data("no gzip".utf8))
        for _ in 0..<3 { #expect(code { try decoder.next() } == .invalidData) }
        #expect(code { try decoder.finish() } == .invalidData)
    }

    @Test func theSizeIsLimitedToTheByte() throws {
        let coded = try ContentCoding.gzip.encoded(text)
        let limits = DecodingLimits { $0.maximumSize = Int64(text.count) }
        #expect(try decode(coded, [.gzip], limits) == text)
        let fewer = DecodingLimits { $0.maximumSize = Int64(text.count) - 1 }
        #expect(code { try decode(coded, [.gzip], fewer) } == .sizeExceeded)
    }

    @Test func theRatioIsJudgedBeyondOneMebibyte() throws {
        let coded = try ContentCoding.gzip.encoded(Data(count: 1 << 20))
        #expect(try decode(coded, [.gzip]).count == 1 << 20)
        let more = try ContentCoding.gzip.encoded(Data(count: 2 << 20))
        #expect(code { try decode(more, [.gzip]) } == .ratioExceeded)
        #expect(try decode(more, [.gzip], DecodingLimits { $0.maximumRatio = nil }).count == 2 << 20)
        #expect(try decode(more, [.gzip], DecodingLimits { $0.maximumRatio = 2000 }).count == 2 << 20)
    }

    /// A small result can be huge between two codings, and take long.
    @Test func theRatioIsJudgedBetweenCodingsToo() throws {
        let nothing = try ContentCoding.gzip.encoded(Data())
        let members = Data((0..<200_000).map { _ in nothing }.joined())
        let coded = try ContentCoding.deflate.encoded(members)
        try #require(members.count >= 4_000_000)
        let limits = DecodingLimits { $0.maximumRatio = 100 }
        #expect(code { try decode(coded, [.gzip, .deflate], limits) } == .ratioExceeded)
        #expect(try decode(members, [.gzip], limits).isEmpty)
    }

    /// A bomb within a bomb: the ratio counts both.
    @Test func nestedBombsAreStopped() throws {
        let bomb = try ContentCoding.gzip.encoded(ContentCoding.gzip.encoded(Data(count: 100 << 20)))
        #expect(bomb.count < 2000)
        #expect(code { try decode(bomb, [.gzip, .gzip]) } == .ratioExceeded)
    }

    @Test func aTransformThatDoesNothingIsAnError() throws {
        let idle = ContentCoding(
            "idle", makeDecoder: { () throws(CompressionError) -> any ContentTransform in IdleTransform() },
            makeEncoder: { () throws(CompressionError) -> any ContentTransform in IdleTransform() })
        #expect(code { try idle.decoded(text) } == .libraryFailed)
        #expect(code { try idle.encoded(text) } == .libraryFailed)
        #expect(code { try idle.encoded(Data()) } == .libraryFailed)
    }

    @Test func codingsWithoutAnEncoderSaySo() throws {
        let coding = ContentCoding("x") { () throws(CompressionError) -> any ContentTransform in IdleTransform() }
        #expect(code { try coding.encoded(text) } == .noEncoder)
    }

    /// An encoder has 64 KiB for its output, which count whether they are used or not.
    @Test func anEncoderThatCannotBeMadeHoldsNoMemory() throws {
        let coding = ContentCoding("x") { () throws(CompressionError) -> any ContentTransform in IdleTransform() }
        let before = try processMemory("VmData")
        for _ in 0..<4000 { #expect(throws: CompressionError.self) { try ContentEncoder(coding) } }
        #expect(try processMemory("VmData") - before < 128 << 20)
    }
}

private final class IdleTransform: ContentTransform {
    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep {
        ContentStep(read: 0, written: 0, isComplete: false)
    }
}
