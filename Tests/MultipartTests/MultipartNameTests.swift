import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(1))) struct MultipartNameTests {
    @Test(arguments: ["\u{0}", "a\u{1}b", "\u{1B}", "\u{7F}", "x\u{B}"])
    func controlCharactersInNamesAreRefused(name: String) async throws {
        for (name, fileName) in [(name, nil), ("a", name)] as [(String, String?)] {
            var form = MultipartForm()
            form.append("x", name: "first")
            form.append(Data("x".utf8), name: name, fileName: fileName, contentType: "text/plain")
            let error = #expect(throws: MultipartError.self) { try form.validate() }
            #expect(error?.code == .invalidName)
            #expect(error?.partIndex == 1)
            let read = await #expect(throws: MultipartError.self) { try await collect(form) }
            #expect(read?.code == .invalidName)
        }
    }

    @Test(arguments: ["\u{0}", "\u{1}", "\u{B}", "\u{1F}", "\u{7F}", "\r"])
    func controlCharactersInParsedHeadersAreRefused(character: String) {
        let body = lines("--B|Content-Disposition: form-data; name=\"a\(character)b\"||x|--B--|")
        let error = #expect(throws: MultipartError.self) {
            try MultipartPart.all(in: body, contentType: "multipart/form-data; boundary=B")
        }
        #expect(error?.code == .malformedHeader)
    }

    @Test(arguments: [
        "\\", "a\\", "C:\\dir\\", "a\\\\\\", "\\\"", "\"", "a\tb", "a;b=c", "a\"; filename=\"b", "%", "\r\n", "é\u{80}",
        "", " a ", "a=\\", #"\\server\share\a.txt"#, #"a\\b\c"#, #"\\\"#,
    ])
    func namesReadBackUnchanged(name: String) async throws {
        var form = MultipartForm()
        form.append(Data("x".utf8), name: name, fileName: name, contentType: "text/plain")
        form.append("y", name: name)
        let parts = try MultipartPart.all(in: await collect(form), contentType: form.contentType)
        #expect(parts.map(\.name) == [name, name])
        #expect(parts.map(\.fileName) == [name, nil])
    }

    /// A quote after a backslash closes the value only if it must.
    @Test(
        arguments: [
            (#"name="a\"; filename="b""#, #"a\"#, "b"), (#"name="a\"; b=c""#, #"a"; b=c"#, nil),
            (#"name="a\" ; filename=b"#, #"a\"#, "b"),
            (#"filename="x\"; name="a\""#, #"a\"#, #"x\"#), (#"name="a\"b\"c""#, #"a"b"c"#, nil),
            (#"name="a\\""#, #"a\"#, nil),
            (#"name="\\srv\f""#, #"\\srv\f"#, nil), (#"name="\\srv\\f""#, #"\srv\f"#, nil),
            (#"name="C:\a\"b\".txt""#, #"C:\a"b".txt"#, nil),
            (#"name="\\srv\f\""#, #"\\srv\f\"#, nil), (#"name="a\";"#, #"a\"#, nil),
        ] as [(String, String, String?)])
    func quotesAndBackslashesAreParsedAsWritten(field: String, name: String, fileName: String?) throws {
        let body = lines("--B|Content-Disposition: form-data; \(field)||x|--B--|")
        let part = try #require(try MultipartPart.all(in: body, contentType: "multipart/form-data; boundary=B").first)
        #expect(part.name == name)
        #expect(part.fileName == fileName)
    }

    @Test(arguments: ["----=_Part_1", "<q1w2>", "{a}", "a@b"]) func nonstandardBoundariesAreParsed(boundary: String)
        throws
    {
        let body = lines("--\(boundary)|Content-Type: a/b||x|--\(boundary)--|")
        for value in [boundary, "\"\(boundary)\""] {
            let parts = try MultipartPart.all(in: body, contentType: "multipart/mixed; boundary=\(value)")
            #expect(parts.map(\.body) == [Data("x".utf8)])
        }
    }

    @Test(arguments: [
        ("nonsense", "is not a media type"), ("text/plain; boundary=B", "text/plain is not a multipart type"),
        ("multipart/mixed; boundary", "has no boundary"),
        ("multipart/mixed; boundary=\"a \"", "without a space at the end"),
    ])
    func messagesNameTheProblem(contentType: String, message: String) {
        let error = #expect(throws: MultipartError.self) { try MultipartParser(contentType: contentType) }
        #expect(error?.message.contains(message) == true)
    }

    @Test func repeatedMultipartContentTypeIsParsed() throws {
        var head = HTTPResponse(status: .ok)
        for value in ["multipart/mixed; boundary=B", "multipart/mixed; boundary=B"] {
            head.headerFields.append(HTTPField(name: .contentType, value: value))
        }
        let response = SerializedResponse(head: head, body: lines("--B|A: b||x|--B--|"))
        #expect(try MultipartResponseSerializer().serialize(response).count == 1)
    }

    @Test(arguments: [
        "text/plain; charset=", "text/plain\r\nX: y", "text/plain; x=\"a\nb\"", "text/plain; x=a b", " text/plain",
    ])
    func malformedContentTypeIsNotWritten(contentType: String) {
        var form = MultipartForm()
        form.append(Data(), name: "a", fileName: nil, contentType: contentType)
        let error = #expect(throws: MultipartError.self) { try form.validate() }
        #expect(error?.code == .invalidContentType)
        #expect(throws: MultipartError.self) { try MultipartForm.Subtype.related(type: contentType) }
    }
}

@Suite(.timeLimit(.minutes(1))) struct MultipartLineEndTests {
    private static let bodies = [
        "--B\nContent-Type: a/b\n\nx\n--B--\n", "preamble\n--B\nA: b\n\nx\n--B--\n", "\n--B \t\nA: b\n\nx\n--B--",
        "x\r\n--B\nA: b\n\n", "--BB\n--B\n",
    ]

    @Test(arguments: bodies) func bodyWithBareLineFeedsHasItsOwnError(body: String) {
        let bytes = Data(body.utf8)
        for size in [1, 2, 3, 7, 1000] {
            let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
            let error = #expect(throws: MultipartError.self) { try parse(pieces) }
            #expect(error?.code == .bareLineFeed)
            #expect(error?.message.contains("LF alone") == true)
        }
    }

    @Test func headerWithBareLineFeedsHasItsOwnError() {
        let error = #expect(throws: MultipartError.self) { try parse([Data("--B\r\nA: b\n\nx\n--B--\n".utf8)]) }
        #expect(error?.code == .malformedHeader)
        #expect(error?.message.contains("LF alone") == true)
    }

    @Test(arguments: ["--B\r\n\r\na\n--B\nb\r\n--B--", "x\n--Bx\n--C\n\r\n--B\r\n\r\na\n--B\nb\r\n--B--"])
    func lineFeedsInAPreambleOrAPartAreContent(body: String) throws {
        let data = try parse([Data(body.utf8)]).compactMap { if case .data(let data) = $0 { data } else { nil } }
        #expect(data == [Data("a\n--B\nb".utf8)])
    }
}
