import FoundationEssentials
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct HTTPBodyTests {
    private struct CountingReader: HTTPRequestBodyReader {
        var left: UInt8
        mutating func next() async throws -> Data? {
            guard left > 0 else { return nil }
            left -= 1
            return Data([left])
        }
    }

    private func collect(_ body: HTTPRequestBody) async throws -> [UInt8] {
        var reader = try body.makeReader()
        var bytes: [UInt8] = []
        while let chunk = try await reader.next() { bytes += chunk }
        return bytes
    }

    @Test func dataIsReplayable() async throws {
        let body = HTTPRequestBody.data(Data([1, 2]))
        #expect(body.length == 2)
        #expect(body.isReplayable)
        #expect(body.data == Data([1, 2]))
        for _ in 0..<2 { #expect(try await collect(body) == [1, 2]) }
        #expect(try await collect(.data(Data())) == [])
    }

    @Test func replayableStreamIsOpenedForEachReader() async throws {
        let body = HTTPRequestBody.stream(length: 3, isReplayable: true) { CountingReader(left: 3) }
        for _ in 0..<2 { #expect(try await collect(body) == [2, 1, 0]) }
        #expect(body.data == nil)
    }

    @Test func streamThatIsNotReplayableIsOpenedOnceAmongCopies() async throws {
        let body = HTTPRequestBody.stream(length: nil, isReplayable: false, replayObstacle: "it is a pipe") {
            CountingReader(left: 1)
        }
        let copy = body
        #expect(try await collect(body) == [0])
        let error = #expect(throws: SerializationError.self) { try copy.makeReader() }
        #expect(error?.code == .bodyNotReplayable)
        #expect(error?.message.contains("it is a pipe") == true)
    }
}
