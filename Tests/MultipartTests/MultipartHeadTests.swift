import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartHeadTests {
    private func part(_ header: String) throws -> MultipartPart {
        let body = Data("--B\r\n\(header)\r\n\r\n\r\n--B--".utf8)
        return try #require(try MultipartPart.all(in: body, contentType: "multipart/form-data; boundary=B").first)
    }

    @Test(arguments: [
        ("form-data; name=\"a\"; filename=\"b\"", "a", "b"),
        ("Form-Data;NAME=a;FileName=b", "a", "b"),
        ("form-data; filename=\"b\"; name=\"a\"", "a", "b"),
        ("form-data ; name = \"a\" ; filename = b c ", "a", "b c"),
        ("form-data; name=\"a%22b%0D%0ac\"; filename=\"%41%2\"", "a\"b\r\nc", "%41%2"),
        ("form-data; name=a%22; filename=\"%\"", "a%22", "%"),
        ("attachment; name=\"a%22\"; filename=\"%0D\"", "a%22", "%0D"),
        (#"form-data; name="a\"b"; filename="C:\dir\f.txt""#, "a\"b", #"C:\dir\f.txt"#),
        (#"form-data; name="a\\b"; filename="a;b=c""#, #"a\b"#, "a;b=c"),
        ("form-data; name=\"é🐦\"; filename=\"שלום\"", "é🐦", "שלום"),
        ("form-data; name=\"a\"; filename=\"x\"; filename*=UTF-8''%e2%82%ac.txt", "a", "€.txt"),
        ("form-data; name=\"a\"; filename*=iso-8859-1'en'%A3; filename=\"x\"", "a", "£"),
        ("form-data; name=\"a\"; filename=\"x\"; filename*=UTF-8''%ff", "a", "x"),
        ("form-data; name=\"a\"; filename=\"x\"; filename*=koi8-r''a", "a", "x"),
        ("form-data; name=\"a\"; filename=\"x\"; filename*=broken", "a", "x"),
        ("form-data; name=\"a\"; name=\"b\"; filename=\"x\"; filename=\"y\"", "a", "x"),
        ("form-data; name=\"a\"; flag; filename=x;", "a", "x"),
        ("form-data; name=\"\"; filename=\"\"", "", ""),
        ("form-data; name=\"a\"b; filename=\"x", "a", "x"),
    ])
    func namesOfOtherClientsAreParsed(field: String, name: String, fileName: String) throws {
        let part = try part("Content-Disposition: \(field)")
        #expect(part.name == name)
        #expect(part.fileName == fileName)
    }

    @Test(arguments: ["", ";", "form-data", "form-data;", "form-data; name", "form-data; nam=x"])
    func nameIsOptional(field: String) throws {
        let part = try part("Content-Disposition: \(field)")
        #expect(part.name == nil)
        #expect(part.fileName == nil)
    }

    @Test func bytesThatAreNotUTF8AreLatin1() throws {
        let body =
            Data("--B\r\nContent-Disposition: form-data; name=\"".utf8) + [0xE9] + Data("\"\r\n\r\n\r\n--B--".utf8)
        let parts = try MultipartPart.all(in: body, contentType: "multipart/form-data; boundary=B")
        #expect(parts.map(\.name) == ["é"])
    }

    @Test func partHasItsContentTypeAndFields() throws {
        let part = try part("Content-Type: Text/HTML; charset=utf-8\r\nX-A: b\r\nx-a: c")
        #expect(part.contentType?.essence == "text/html")
        #expect(part.headerFields[values: HTTPField.Name("X-A") ?? .accept] == ["b", "c"])
        #expect(try self.part("Content-Type: nonsense").contentType == nil)
    }

    @Test(
        arguments: [
            ("bytes 0-499/1234", 0...499, 1234), ("Bytes  5-5/*", 5...5, nil), ("bytes 0-0/1", 0...0, 1),
        ] as [(String, ClosedRange<Int64>, Int64?)])
    func byteRangesAreRead(value: String, bytes: ClosedRange<Int64>, completeLength: Int64?) throws {
        let range = try #require(try part("Content-Range: \(value)").byteRange)
        #expect(range.bytes == bytes)
        #expect(range.completeLength == completeLength)
    }

    @Test(arguments: [
        "bytes */1234", "bytes 5-4/10", "bytes 0-10/10", "items 0-1/2", "bytes 0-1", "bytes -1-2/3", "bytes +1-2/3",
        "bytes 0-1/2/3", "bytes 0-99999999999999999999/*", "bytes 0-9223372036854775807/*", "bytes", "", "bytes 0-/5",
        "bytes 0-1 /5",
    ])
    func otherRangesAreNil(value: String) throws {
        #expect(try part("Content-Range: \(value)").byteRange == nil)
    }

    @Test func everySettingOfTheSerializerSurvivesCoding() throws {
        var limits = MultipartParser.Limits()
        limits.maximumPartCount = 1
        limits.maximumHeaderBytes = 2
        limits.maximumHeaderFieldCount = 3
        limits.maximumNesting = 5
        limits.maximumTotalBytes = 6
        var serializer = MultipartResponseSerializer(limits: limits)
        serializer.readsNestedParts.toggle()
        serializer.validation = ResponseValidation(statusCodes: 201..<300, contentTypes: ["a/b"])
        serializer.validation.acceptsEmptyBody = false
        #expect(unchangedSettings(in: serializer, from: MultipartResponseSerializer()) == [])
        let coded = try JSONDecoder().decode(
            MultipartResponseSerializer.self, from: try JSONEncoder().encode(serializer))
        #expect(coded == serializer)
    }

    /// The example of RFC 9110, section 14.6.
    @Test func byteRangesResponseIsParsed() throws {
        var head = HTTPResponse(status: .partialContent)
        head.headerFields[.contentType] = "multipart/byteranges; boundary=THIS_STRING_SEPARATES"
        let body = lines(
            "--THIS_STRING_SEPARATES|Content-Type: application/pdf|Content-Range: bytes 500-504/8000||first"
                + "|--THIS_STRING_SEPARATES|Content-Type: application/pdf|Content-Range: bytes 7000-7005/8000||second"
                + "|--THIS_STRING_SEPARATES--|")
        let serializer = MultipartResponseSerializer()
        let parts = try serializer.serialize(SerializedResponse(head: head, body: body))
        #expect(parts.map { $0.byteRange?.bytes } == [500...504, 7000...7005])
        #expect(parts.map(\.body) == [Data("first".utf8), Data("second".utf8)])
        #expect(try serializer.serialize(SerializedResponse(head: head)).isEmpty)
        let broken = #expect(throws: SerializationError.self) {
            try serializer.serialize(SerializedResponse(head: head, body: Data("x".utf8)))
        }
        #expect(broken?.code == .decodingFailed)
        #expect((broken?.underlying as? MultipartError)?.code == .truncated)
        #expect(broken?.response?.body == Data("x".utf8))
        head.headerFields[.contentType] = "text/plain"
        let refused = #expect(throws: SerializationError.self) {
            try serializer.serialize(SerializedResponse(head: head, body: body))
        }
        #expect(refused?.code == .unacceptableContentType)
    }
}
