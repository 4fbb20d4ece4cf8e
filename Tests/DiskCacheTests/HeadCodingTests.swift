import CommandSupport
import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetDiskCache

@Suite(.timeLimit(.minutes(5)))
struct HeadCodingTests {
    private let head = HTTPResponse(
        status: HTTPResponse.Status(code: 299, reasonPhrase: "Fine"),
        headerFields: [.contentType: "text/plain", .setCookie: "a=1", .setCookie: "b=2", .eTag: ""])

    @Test func aHeadSurvivesCoding() {
        let read = HeadCoding.decode(HeadCoding.encode(head))
        #expect(read == head && read?.status.reasonPhrase == "Fine")
        #expect(read?.headerFields.map(\.value) == ["text/plain", "a=1", "b=2", ""])
    }

    @Test func truncatedAndExtendedBytesAreNoHead() {
        let data = HeadCoding.encode(head)
        for count in 0..<data.count { #expect(HeadCoding.decode(data.prefix(count)) == nil) }
        #expect(HeadCoding.decode(data + [0]) == nil)
    }

    /// Lengths and counts beyond the bytes, nonexistent statuses, and invalid names.
    @Test func anyBytesAreAHeadOrNone() {
        let seed = RandomSeed.next()
        var random = SplitMix(seed: seed)
        var heads = 0
        for _ in 0..<20_000 {
            var data = HeadCoding.encode(head)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let read = HeadCoding.decode(data) else { continue }
            heads += 1
            #expect(HeadCoding.decode(HeadCoding.encode(read)) == read, "seed \(seed)")
        }
        #expect(heads > 0)
    }
}
