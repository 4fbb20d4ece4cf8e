import FoundationEssentials
import Testing

@testable import LinnetImageSerialization

@Suite("Files made of pieces", .timeLimit(.minutes(1)))
struct FilePiecesTests {
    /// The beginning is not that of its memory.
    private static let source = Data((0..<20_010).map { UInt8(truncatingIfNeeded: $0 / 7) }).dropFirst(10)

    private static func bytes(_ part: Range<Int>) -> Data { Data(source.dropFirst(part.lowerBound).prefix(part.count)) }

    private static func address(_ data: Data) -> UnsafeRawPointer? { data.withUnsafeBytes { $0.baseAddress } }

    @Test func longPartsShareTheMemoryOfTheFile() throws {
        var file = FilePieces(of: Self.source)
        file.append(100..<4_196)
        file.append(5_000..<20_000)
        let start = try #require(Self.address(Self.source))
        #expect(file.pieces.map(Self.address) == [start + 100, start + 5_000])
        #expect(file.pieces == [Self.bytes(100..<4_196), Self.bytes(5_000..<20_000)])
    }

    @Test func shortPartsAndOtherBytesAreJoined() {
        var file = FilePieces(of: Self.source)
        file.append(0..<4_095)
        file.append(copying: [1, 2, 3])
        file.append(10..<20)
        #expect(file.pieces == [Self.bytes(0..<4_095) + [1, 2, 3] + Self.bytes(10..<20)])
    }

    @Test func aLongPartEndsACopy() {
        var file = FilePieces(of: Self.source)
        file.append(copying: [1])
        file.append(0..<8_000)
        file.append(copying: [2])
        file.append(0..<1)
        #expect(file.pieces == [Data([1]), Self.bytes(0..<8_000), Data([2]) + Self.bytes(0..<1)])
    }

    @Test func aFileOfNothingHasNoPieces() {
        #expect(FilePieces(of: Self.source).pieces.isEmpty)
    }
}
