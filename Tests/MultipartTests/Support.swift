import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Testing

/// Reads a whole body, and checks each chunk.
func collect(_ body: HTTPRequestBody) async throws -> Data {
    var reader = try body.makeReader()
    var data = Data()
    while let chunk = try await reader.next() {
        #expect(chunk.count <= 64 * 1024)
        data.append(chunk)
    }
    return data
}

func collect(_ form: MultipartForm) async throws -> Data { try await collect(form.makeBody()) }

/// Returns fixed chunks.
struct ChunksReader: HTTPRequestBodyReader {
    var chunks: [Data]

    mutating func next() async throws -> Data? { chunks.isEmpty ? nil : chunks.removeFirst() }
}

/// A file that is removed after the test.
final class TemporaryFile {
    let url: URL

    init(_ data: Data, name: String = "file.bin") throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appending(path: name)
        try data.write(to: url)
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
}

/// An async sequence of fixed elements, which counts how often it is iterated only by giving them again.
struct Elements<Element: Sendable>: AsyncSequence, Sendable {
    var elements: [Element]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Element>

        mutating func next() async throws -> Element? { rest.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: elements[...]) }
}

/// The bytes of a text in which `|` means CR LF.
func lines(_ text: String) -> Data { Data(text.replacing("|", with: "\r\n").utf8) }

/// Parses a body in pieces, and joins adjacent data.
func parse(
    _ pieces: [Data], boundary: String = "B", limits: MultipartParser.Limits = MultipartParser.Limits(),
    nested: Bool = false
) throws(MultipartError) -> [MultipartParser.Event] {
    var parser = try MultipartParser(boundary: boundary, limits: limits, readsNestedParts: nested)
    var events: [MultipartParser.Event] = []
    var content = Data()
    for piece in pieces {
        parser.push(piece)
        while let event = try parser.next() {
            if case .data(let data) = event {
                content.append(data)
            } else {
                if !content.isEmpty { events.append(.data(content)) }
                content = Data()
                events.append(event)
            }
        }
    }
    try parser.finish()
    if !content.isEmpty { events.append(.data(content)) }
    return events
}
