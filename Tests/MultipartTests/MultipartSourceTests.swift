import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization
import Testing

/// Texts, async sequences, bodies and `Encodable` values as parts.
@Suite(.timeLimit(.minutes(5))) struct MultipartSourceTests {
    private func read(_ form: MultipartForm) async throws -> [MultipartPart] {
        try MultipartPart.all(in: try await collect(form), contentType: form.contentType)
    }

    @Test func textsAreUTF8() async throws {
        var form = MultipartForm()
        form.append("Grüße 🐦", name: "a")
        form.append("x", name: "b", fileName: "b.txt", contentType: "text/plain; charset=utf-8")
        let parts = try await read(form)
        try #require(parts.map(\.body) == [Data("Grüße 🐦".utf8), Data("x".utf8)])
        #expect(parts.map(\.fileName) == [nil, "b.txt"])
        #expect(parts[1].headerFields[.contentType] == "text/plain; charset=utf-8")
    }

    @Test(arguments: [nil, 6] as [Int64?], [false, true]) func chunksAreRead(length: Int64?, isReplayable: Bool)
        async throws
    {
        var form = MultipartForm()
        form.append(
            chunks: Elements<[UInt8]>(elements: [[1, 2], [], [3, 4, 5, 6]]), name: "c", fileName: "c", length: length,
            isReplayable: isReplayable)
        #expect((form.contentLength == nil) == (length == nil))
        #expect(form.makeBody().isReplayable == isReplayable)
        #expect(try await read(form).map(\.body) == [Data([1, 2, 3, 4, 5, 6])])
        if isReplayable {
            #expect(try await read(form).map(\.body) == [Data([1, 2, 3, 4, 5, 6])])
        } else {
            let error = await #expect(throws: MultipartError.self) { try await collect(form) }
            #expect(error?.code == .partNotReplayable)
            #expect(error?.partName == "c")
            #expect(error?.partIndex == 0)
        }
    }

    @Test(arguments: [0, 1, 65_536, 65_537, 200_000]) func bytesAreGathered(count: Int) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var form = MultipartForm()
        form.append(bytes: Elements(elements: bytes), name: "b", length: Int64(count))
        #expect(try await read(form).map(\.body) == [Data(bytes)])
    }

    @Test func sequenceOfAnotherLengthIsATypedError() async throws {
        for length: Int64 in [2, 4] {
            var form = MultipartForm()
            form.append(bytes: Elements<UInt8>(elements: [1, 2, 3]), name: "b", length: length)
            let error = await #expect(throws: MultipartError.self) { try await collect(form) }
            #expect(error?.code == .lengthMismatch)
        }
    }

    @Test func bodiesAreParts() async throws {
        let file = try TemporaryFile(Data("file".utf8))
        var form = MultipartForm()
        form.append(.data(Data("--\(form.boundary)".utf8)), name: "a")
        form.append(try .file(file.url), name: "b", fileName: "b.bin", contentType: "text/plain")
        #expect(form.contentLength != nil)
        #expect(try await read(form).map(\.body.count) == [33, 4])
        try Data("files".utf8).write(to: file.url)
        let error = await #expect(throws: MultipartError.self) { try await collect(form) }
        #expect(error?.code == .fileChanged)
        #expect(error?.partName == "b")
        #expect((error?.underlying as? FileFailure)?.path == file.url.path)
    }

    private struct Post: Encodable {
        struct Author: Encodable { var name: String, isNew: Bool }
        var title = "Linnet"
        var tags = ["bird", "small"]
        var author = Author(name: "Ada", isNew: true)
        var image = Data([0, 255])
        var nothing: Int?
    }

    @Test func encodableValuesAreFlattenedLikeAForm() async throws {
        var form = MultipartForm()
        try form.append(encoding: Post())
        #expect(
            try await read(form).map { $0.name ?? "" } == [
                "author[isNew]", "author[name]", "image", "tags[]", "tags[]", "title",
            ])
        #expect(
            try await read(form).map(\.body)
                == [
                    Data("1".utf8), Data("Ada".utf8), Data([0, 255]), Data("bird".utf8), Data("small".utf8),
                    Data("Linnet".utf8),
                ])
        var styles = QueryEncoder()
        styles.nestingStyle = .dots
        styles.sortsKeys = false
        styles.boolStyle = .words
        var parameterEncoder = ParameterEncoder()
        parameterEncoder.keyEncodingStrategy = .convertToSnakeCase
        parameterEncoder.dataEncodingStrategy = .base64
        var other = MultipartForm()
        try other.append(encoding: Post(), parameterEncoder: parameterEncoder, encoder: styles)
        let parts = try await read(other)
        #expect(parts.map { $0.name ?? "" } == ["title", "tags[]", "tags[]", "author.name", "author.is_new", "image"])
        #expect(
            parts.map { String(decoding: $0.body, as: UTF8.self) } == [
                "Linnet", "bird", "small", "Ada", "true", "AP8=",
            ])
    }

    private struct Refusing: Encodable {
        struct Reason: Error {}
        func encode(to encoder: any Encoder) throws { throw Reason() }
    }

    @Test func encodingFailureIsATypedError() {
        var form = MultipartForm()
        let first = #expect(throws: MultipartError.self) { try form.append(encoding: Refusing()) }
        #expect(first?.code == .invalidParameters)
        let second = #expect(throws: MultipartError.self) { try form.append(encoding: [1, 2]) }
        #expect(second?.code == .invalidParameters)
        #expect(form.isEmpty)
    }

    @Test(arguments: [
        ("plain.txt", #"filename="plain.txt""#),
        ("é.txt", #"filename="é.txt"; filename*=UTF-8''%C3%A9.txt"#),
        ("a\"b", #"filename="a%22b"; filename*=UTF-8''a%22b"#),
        ("a b'c%(1)*\n🐦", "filename=\"a b'c%(1)*%0A🐦\"; filename*=UTF-8''a%20b%27c%25%281%29%2A%0A%F0%9F%90%A6"),
    ])
    func extendedFileNamesAreAddedWhereNeeded(name: String, expected: String) async throws {
        var form = try MultipartForm(boundary: "B")
        form.addsExtendedFileNames = true
        form.append(Data(), name: "f", fileName: name, contentType: nil)
        let text = String(decoding: try await collect(form), as: UTF8.self)
        #expect(text == "--B\r\nContent-Disposition: form-data; name=\"f\"; \(expected)\r\n\r\n\r\n--B--\r\n")
        #expect(form.contentLength == Int64(text.utf8.count))
        #expect(try await read(form)[0].fileName == name)
    }
}
