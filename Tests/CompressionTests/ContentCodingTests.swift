import CompressionSupport
import FoundationEssentials
import LinnetCompression
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ContentCodingTests {
    /// RFC 9110, sections 8.4 and 5.6.1.
    @Test(arguments: [
        ("gzip", ["gzip"]), ("GZip", ["gzip"]), ("x-gzip", ["gzip"]), ("deflate", ["deflate"]),
        ("gzip, deflate", ["gzip", "deflate"]), ("deflate,gzip", ["deflate", "gzip"]),
        (" gzip\t,, gzip ,", ["gzip", "gzip"]),
        ("identity", []), ("", []), (" , ", []), ("identity, gzip", ["gzip"]),
    ]) func contentEncodingNamesCodingsInOrder(value: String, names: [String]) throws {
        #expect(try ContentCoding.codings(in: value, among: [.gzip, .deflate]).map(\.name) == names)
    }

    @Test(arguments: ["br", "gzip, br", "gzip;q=1", "none", "utf-8", "gz ip x", "\u{FFFD}", "x-deflate"])
    func otherNamesAreUnknown(value: String) throws {
        #expect(code { try ContentCoding.codings(in: value, among: [.gzip, .deflate]) } == .unknownCoding)
    }

    @Test func theMessageNamesTheUnknownCodingOnOneLine() throws {
        let long = String(repeating: "a\n", count: 1000)
        let error = #expect(throws: CompressionError.self) { try ContentCoding.codings(in: long, among: []) }
        #expect(error.map { $0.message.count < 150 && !$0.message.contains("\n") } == true)
        #expect(error?.errorDescription == error?.message)
    }

    /// RFC 9110, section 12.5.3.
    @Test func acceptEncodingNamesEachCodingOnce() {
        #expect(ContentCoding.acceptEncoding([.gzip, .deflate]) == "gzip, deflate")
        #expect(ContentCoding.acceptEncoding([.deflate, .gzip, .deflate]) == "deflate, gzip")
        #expect(ContentCoding.acceptEncoding([]) == nil)
    }

    @Test func codingsAreEqualIfTheirNamesAre() {
        let other = ContentCoding("GZIP") { () throws(CompressionError) -> any ContentTransform in throw failure }
        #expect(other == .gzip && other.hashValue == ContentCoding.gzip.hashValue && other != .deflate)
        #expect(Set([ContentCoding.gzip, other]).count == 1)
        #expect("\(ContentCoding.gzip)" == "gzip")
        #expect(code { try other.decoded(Data()) } == .libraryFailed)
    }
}

private let failure = CompressionError(code: .libraryFailed, message: "There is none.")
