import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartSubtypeTests {
    @Test func subtypesAndTheirParametersAreInTheContentType() throws {
        #expect(try MultipartForm(boundary: "B", subtype: .mixed).contentType == "multipart/mixed; boundary=B")
        #expect(
            try MultipartForm(boundary: "B", subtype: .alternative).contentType == "multipart/alternative; boundary=B")
        let related = try MultipartForm.Subtype.related(
            type: "application/json", start: "<root@example>", startInfo: #"a "b" \c"#)
        let contentType = try MultipartForm(boundary: "B c", subtype: related).contentType
        #expect(
            contentType == #"multipart/related; boundary="B c"; type="application/json"; start="<root@example>"; "#
                + #"start-info="a \"b\" \\c""#)
        let type = try #require(MIMEType(contentType))
        #expect(type.essence == "multipart/related")
        #expect(type.parameter("boundary") == "B c")
        #expect(type.parameter("type") == "application/json")
        #expect(type.parameter("start") == "<root@example>")
        #expect(type.parameter("start-info") == #"a "b" \c"#)
        let own = try MultipartForm.Subtype("X-Batch", parameters: ["version": "1.0", "mode": ""])
        #expect(own.description == "x-batch")
        #expect(
            try MultipartForm(boundary: "B", subtype: own).contentType
                == #"multipart/x-batch; boundary=B; version="1.0"; mode="""#)
    }

    @Test(arguments: ["", "a b", "a;b", "a/b", "é", "a\r\nb", "a; b=c", " a"]) func otherNamesAreRefused(name: String) {
        #expect(#expect(throws: MultipartError.self) { try MultipartForm.Subtype(name) }?.code == .invalidSubtype)
    }

    @Test(
        arguments: [
            ("", "v"), ("a b", "v"), ("boundary", "v"), ("Boundary", "v"), ("a", "é"), ("a", "x\r\nY: z"), ("a=b", "v"),
            ("a;b", "v"), ("a", "\u{7F}"),
        ])
    func otherParametersAreRefused(name: String, value: String) {
        let error = #expect(throws: MultipartError.self) { try MultipartForm.Subtype("x", parameters: [name: value]) }
        #expect(error?.code == .invalidSubtype)
    }

    @Test func relatedRequiresAMediaType() {
        #expect(
            #expect(throws: MultipartError.self) { try MultipartForm.Subtype.related(type: "json") }?.code
                == .invalidSubtype
        )
    }

    @Test func relatedPartsAreEncodedToTheByte() async throws {
        var form = try MultipartForm(boundary: "B", subtype: .related(type: "application/json"))
        form.append(headerFields: [.contentType: "application/json"], body: Data("{}".utf8))
        form.append(headerFields: [.contentType: "image/png", .contentLocation: "a.png"], body: .data(Data("x".utf8)))
        let expected = lines(
            "--B|Content-Type: application/json||{}|--B|Content-Type: image/png|Content-Location: a.png||x|--B--|")
        #expect(try await collect(form) == expected)
        #expect(form.contentLength == Int64(expected.count))
    }

    @Test func formsCanBeNested() async throws {
        let file = try TemporaryFile(Data("file".utf8), name: "a.txt")
        var inner = try MultipartForm(boundary: "I", subtype: .mixed)
        inner.append(headerFields: [:], body: try .file(file.url))
        var outer = try MultipartForm(boundary: "O", subtype: .mixed)
        outer.append(headerFields: [.contentType: inner.contentType], body: inner.makeBody())
        let expected = lines("--O|Content-Type: multipart/mixed; boundary=I||--I||file|--I--||--O--|")
        #expect(try await collect(outer) == expected)
        #expect(outer.contentLength == Int64(expected.count))
        #expect(outer.makeBody().isReplayable)
        let parts = try MultipartPart.all(
            in: try await collect(outer), contentType: outer.contentType, readsNestedParts: true)
        try #require(parts.count == 1)
        try #require(parts[0].parts.map(\.body) == [Data("file".utf8)])
        #expect(parts[0].parts[0].head.depth == 1)
    }

    @Test func partsWithoutANameHaveTheirNumber() async throws {
        var form = try MultipartForm(boundary: "B", subtype: .mixed)
        form.append(headerFields: [:], body: Data("x".utf8))
        form.append(headerFields: [:], body: .chunks(Elements(elements: [Data("y".utf8)]), length: 2))
        #expect(form.nonReplayablePartNames == ["part 2"])
        let error = await #expect(throws: MultipartError.self) { try await collect(form) }
        #expect(error?.code == .lengthMismatch)
        #expect(error?.partIndex == 1)
        #expect(error?.partName == nil)
        #expect(error?.message.contains("part 2") == true)
    }
}
