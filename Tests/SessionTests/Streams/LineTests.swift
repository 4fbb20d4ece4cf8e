import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct LineTests {
    static let texts: [(text: String, lines: [String], lineFeedLines: [String])] = [
        ("", [], []), ("a", ["a"], ["a"]), ("a\n", ["a"], ["a"]), ("a\nb", ["a", "b"], ["a", "b"]),
        ("\n", [""], [""]), ("\n\n", ["", ""], ["", ""]), ("a\r\nb\r\n", ["a", "b"], ["a\r", "b\r"]),
        ("a\rb\r", ["a", "b"], ["a\rb\r"]), ("a\r\rb", ["a", "", "b"], ["a\r\rb"]),
        ("a\n\rb", ["a", "", "b"], ["a", "\rb"]), ("a\r\n\nb", ["a", "", "b"], ["a\r", "", "b"]),
        ("ä\nö\u{2028}ü", ["ä", "ö\u{2028}ü"], ["ä", "ö\u{2028}ü"]),
    ]

    /// However the bytes are cut into chunks.
    @Test(arguments: texts.indices, [1, 2, 3, 100])
    func linesAreTheSameInAnyPieces(index: Int, size: Int) throws {
        let (text, lines, lineFeedLines) = Self.texts[index]
        #expect(try split(text, .any, size) == lines)
        #expect(try split(text, .lineFeed, size) == lineFeedLines)
    }

    private func split(_ text: String, _ ending: LineSplitter.Ending, _ size: Int) throws -> [String] {
        var splitter = LineSplitter(ending, limit: 1000)
        var lines: [String] = []
        var rest = Data(text.utf8)
        while !rest.isEmpty {
            splitter.add(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let line = try splitter.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        }
        if let line = splitter.finish() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test func linesArriveWhileTheyAreSent() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).streamTask()
        task.resume()
        var lines = try await task.response.body.lines().makeAsyncIterator()
        body.send("one\ntw")
        #expect(try await lines.next() == "one")
        body.send("o\r\n\r\nthree")
        #expect(try await lines.next() == "two")
        #expect(try await lines.next()?.isEmpty == true)
        body.finish()
        #expect(try await lines.next() == "three")
        #expect(try await lines.next() == nil)
    }

    @Test(arguments: [("aaaa\nbbbbb\n", 4), ("aaaaa", 4), ("\naaaaa", 4)])
    func aLineMayNotBeLongerThanTheLimit(text: String, limit: Int) async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data(text.utf8)) })
        let response = try await session.call(makeRequest()).bytes()
        let error = await #expect(throws: SessionError.self) {
            for try await line in response.body.lines(upTo: limit) { #expect(line.utf8.count <= limit) }
        }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func anEndlessLineDoesNotFillTheMemory() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let response = try await session.call(makeRequest()).bytes()
        let reading = Task { try await response.body.lines(upTo: 1 << 20).first { _ in true } }
        let piece = Data(repeating: 0x61, count: 1 << 20)
        body.send(piece)
        body.send(piece)
        let error = await #expect(throws: SessionError.self) { try await reading.value }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test(arguments: ["1\n22222\n", "1\n22222"])
    func aValueMayNotBeLongerThanTheLimit(text: String) async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data(text.utf8)) })
        let response = try await session.call(makeRequest()).bytes()
        var values: [Int] = []
        let error = await sessionError {
            for try await value in response.body.jsonLines(as: Int.self, upTo: 4) { values.append(value) }
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(values == [1])
    }

    // MARK: JSON

    private struct Point: Decodable, Sendable, Equatable {
        var x: Int
    }

    @Test func valuesComeLineByLine() async throws {
        let text = "{\"x\": 1}\n\n  \r\n{\"x\":\r 2}\r\n{\"x\": 3}"
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data(text.utf8)) })
        var points: [Point] = []
        for try await point in try await session.call(makeRequest()).bytes().body.jsonLines(as: Point.self) {
            points.append(point)
        }
        #expect(points == [Point(x: 1), Point(x: 2), Point(x: 3)])
        var values: [JSONValue] = []
        for try await value in try await session.call(makeRequest()).bytes().body.jsonLines() { values.append(value) }
        #expect(values == [["x": 1], ["x": 2], ["x": 3]])
    }

    @Test func anInvalidLineFailsWithItsNumber() async throws {
        let session = try HTTPSession(
            transport: StubTransport { _ in .status(200, body: Data("{\"x\": 1}\n\n{\"y\": 2}\n".utf8)) })
        var points: [Point] = []
        let response = try await session.call(makeRequest()).bytes()
        let error = await Result { () async throws(SessionError) in
            for try await point in response.body.jsonLines(as: Point.self) { points.append(point) }
        }.error
        #expect(points == [Point(x: 1)])
        #expect(error?.code == .decodingFailed)
        #expect(error?.message.hasPrefix("Line 3 ") == true)
    }
}
