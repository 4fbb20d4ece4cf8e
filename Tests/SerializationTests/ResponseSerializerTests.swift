import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ResponseSerializerTests {
    private struct Post: Codable, Sendable, Equatable {
        var id: Int
        var text: String
    }

    private func code<S: ResponseSerializer>(_ serializer: S, _ response: SerializedResponse) -> SerializationError
        .Code?
    {
        #expect(throws: SerializationError.self) { _ = try serializer.serialize(response) }?.code
    }

    @Test func dataIsReturnedUnchanged() throws {
        #expect(try DataResponseSerializer().serialize(makeResponse("x", type: nil)) == Data("x".utf8))
        #expect(code(DataResponseSerializer(), makeResponse("x", status: 404)) == .unacceptableStatus)
    }

    @Test(arguments: ["application/json", "text/json", "text/javascript", "application/problem+json"])
    func jsonTypesAreAccepted(type: String) throws {
        #expect(try JSONResponseSerializer().serialize(makeResponse(#"{"a":1}"#, type: type)) == ["a": 1])
    }

    @Test func otherTypesAreRefused() {
        #expect(
            code(JSONResponseSerializer(), makeResponse("{}", type: "nonstandard/json")) == .unacceptableContentType)
    }

    @Test(arguments: ["", " "]) func emptyBodyAndSingleSpaceAreNil(body: String) throws {
        #expect(try JSONResponseSerializer().serialize(makeResponse(body)) == nil)
    }

    @Test func malformedJSONIsATypedErrorWithTheBody() {
        let response = makeResponse("{\"a\":")
        let error = #expect(throws: SerializationError.self) { try JSONResponseSerializer().serialize(response) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.underlying is JSONSyntaxError)
        #expect(error?.response?.body == response.body)
        let deep = makeResponse(String(repeating: "[", count: 600))
        #expect(code(JSONResponseSerializer(), deep) == .nestedTooDeep)
    }

    @Test func unacceptableStatusIsReportedBeforeAMalformedBody() {
        #expect(code(JSONResponseSerializer(), makeResponse("<html>", status: 500)) == .unacceptableStatus)
        #expect(code(DecodableResponseSerializer<Post>(), makeResponse("<html>", status: 500)) == .unacceptableStatus)
        #expect(code(StringResponseSerializer(), makeResponse(Data([255]), status: 500)) == .unacceptableStatus)
    }

    @Test func nullsAreRemovedOnRequest() throws {
        let serializer = JSONResponseSerializer(removesNullValues: true)
        let value = try serializer.serialize(makeResponse(#"{"a":null,"b":[null,{"c":null}]}"#))
        #expect(value == ["b": [[:]]])
        #expect(try serializer.serialize(makeResponse("null")) == .null)
    }

    @Test func theLimitOnMemoryOfATreeIsTheSerializers() throws {
        let response = makeResponse("[\(String(repeating: "1,", count: 100))1]")
        let error = #expect(throws: SerializationError.self) {
            try JSONResponseSerializer(options: JSONValue.ParsingOptions(maximumMemory: 1000)).serialize(response)
        }
        #expect(error?.code == .decodingFailed)
        #expect((error?.underlying as? JSONSyntaxError)?.kind == .tooLarge)
    }

    @Test func decodableValuesAreDecoded() throws {
        let serializer = DecodableResponseSerializer([Post].self)
        let posts = try serializer.serialize(makeResponse(#"[{"id":1,"text":"é"}]"#))
        #expect(posts == [Post(id: 1, text: "é")])
        let error = #expect(throws: SerializationError.self) { try serializer.serialize(makeResponse("[{}]")) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.underlying is DecodingError)
        #expect(error?.response != nil)
    }

    @Test func emptyBodyDecodesAsNilIfTheTypeIsOptional() throws {
        #expect(try DecodableResponseSerializer(Post?.self).serialize(makeResponse("", status: 204, type: nil)) == nil)
        #expect(code(DecodableResponseSerializer(Post.self), makeResponse("")) == .emptyBody)
    }

    private struct Empty: Decodable, Equatable {}

    @Test(
        arguments: [(204, nil), (205, nil), (304, nil), (200, HTTPRequest.Method.head)] as [(Int, HTTPRequest.Method?)])
    func noContentDecodesAsATypeWithoutRequiredProperties(status: Int, method: HTTPRequest.Method?) throws {
        var response = makeResponse("", status: status, type: nil)
        response.requestMethod = method
        #expect(try DecodableResponseSerializer(Empty.self, validation: .none).serialize(response) == Empty())
        let plist = DecodablePropertyListResponseSerializer(Empty.self, validation: .none)
        #expect(try plist.serialize(response) == Empty())
        for missing in [
            code(DecodableResponseSerializer(Post.self, validation: .none), response),
            code(DecodablePropertyListResponseSerializer(Post.self, validation: .none), response),
        ] { #expect(missing == .emptyBody) }
        #expect(try DecodableResponseSerializer(Post?.self, validation: .none).serialize(response) == nil)
    }

    @Test func missingBodyDoesNotDecodeAsAnEmptyType() {
        #expect(code(DecodableResponseSerializer(Empty.self), makeResponse("")) == .emptyBody)
    }

    @Test func messagesNameAContentCoding() throws {
        var response = makeResponse(Data([0x1F, 0x8B, 8, 0]))
        response.head.headerFields[.contentEncoding] = "gzip"
        let messages = [
            #expect(throws: SerializationError.self) { try JSONResponseSerializer().serialize(response) },
            #expect(throws: SerializationError.self) { try DecodableResponseSerializer(Post.self).serialize(response) },
            #expect(throws: SerializationError.self) { try StringResponseSerializer().serialize(response) },
            #expect(throws: SerializationError.self) {
                try PropertyListResponseSerializer(validation: .none).serialize(response)
            },
        ].map { $0?.message ?? "" }
        for message in messages { #expect(message.contains("Content-Encoding \"gzip\""), "\(message)") }
        #expect(try DataResponseSerializer().serialize(response) == response.body)
        response.head.headerFields[.contentEncoding] = "identity"
        let plain = #expect(throws: SerializationError.self) { try JSONResponseSerializer().serialize(response) }
        #expect(plain?.message.contains("Content-Encoding") == false)
    }

    @Test(arguments: [
        ("[{}]", #"The body does not decode as Array<Post>: the key "id" is missing at [0]."#),
        (
            #"[{"id":"x","text":""}]"#,
            "The body does not decode as Array<Post>: the value at [0].id is not of type Int."
        ),
        ("[", "The body does not decode as Array<Post>: The text is not JSON: unexpected end at byte 1."),
    ])
    func messagesNameThePlace(text: String, message: String) {
        let error = #expect(throws: SerializationError.self) {
            try DecodableResponseSerializer([Post].self).serialize(makeResponse(text))
        }
        #expect(error?.message == message)
        #expect(error.map { "\($0)" } == message)
        #expect((error as (any LocalizedError)?)?.errorDescription == message)
    }

    @Test func serializersAreStaticMembers() throws {
        func read<S: ResponseSerializer>(_ response: SerializedResponse, _ serializer: S) throws -> S.Value {
            try serializer.serialize(response)
        }
        let response = makeResponse("[1]")
        #expect(try read(response, .data) == Data("[1]".utf8))
        #expect(try read(response, .string) == "[1]")
        #expect(try read(response, .json) == JSONValue.array([1]))
        #expect(try read(response, .decodable([Int].self)) == [1])
        let plist = makeResponse("<array><integer>1</integer></array>", type: "application/x-plist")
        #expect(try read(plist, .propertyList) == PropertyListValue.array([1]))
        #expect(try read(plist, .propertyList([Int].self)) == [1])
        let requests: [any RequestSerializer] = [.form, .json, .propertyList]
        let types = try requests.map { serializer in
            try serializer.serialize(try makeRequest(method: .post), parameters: ["a": 1]).headerFields[.contentType]
        }
        #expect(types == ["application/x-www-form-urlencoded", "application/json", "application/x-plist"])
    }

    @Test func deepJSONIsATypedErrorForDecodable() {
        let deep = makeResponse(String(repeating: "[", count: 1_000_000))
        #expect(code(DecodableResponseSerializer([Post].self), deep) == .decodingFailed)
    }

    @Test(
        arguments: [
            ("text/plain", [0x68, 0xC3, 0xA9], "hé"), ("text/plain; charset=utf-8", [0xC3, 0xA9], "é"),
            ("text/plain; charset=\"UTF-8\"", [0xEF, 0xBB, 0xBF, 0x61], "a"),
            ("text/plain; charset=iso-8859-1", [0x68, 0xE9], "hé"),
            ("text/plain; charset=us-ascii", [0x68], "h"),
            ("text/plain; charset=windows-1252", [0x80, 0x41, 0x9F, 0xE9], "€AŸé"),
            ("text/plain; charset=utf-16", [0xFF, 0xFE, 0x61, 0x00], "a"),
            ("text/plain; charset=utf-16", [0xFE, 0xFF, 0x00, 0x61], "a"),
            ("text/plain; charset=utf-16", [0x00, 0x61], "a"),
            ("text/plain; charset=utf-16le", [0x3D, 0xD8, 0x00, 0xDE], "😀"),
            ("text/plain; charset=utf-16be", [0xD8, 0x3D, 0xDE, 0x00], "😀"),
            (nil, [0xFF, 0xFE, 0x61, 0x00], "a"), ("text/plain", [], ""), ("text/plain; charset=utf-16", [], ""),
            (
                "text/plain; charset=latin1", Array(0...255),
                String(String.UnicodeScalarView((0...255).map { Unicode.Scalar(UInt8($0)) }))
            ),
        ] as [(String?, [UInt8], String)])
    func stringsAreReadInTheirCharset(type: String?, bytes: [UInt8], expected: String) throws {
        #expect(try StringResponseSerializer().serialize(makeResponse(Data(bytes), type: type)) == expected)
    }

    @Test(
        arguments: [
            ("text/plain", [0xE9]), ("text/plain; charset=utf-8", [0xC3]), ("text/plain; charset=us-ascii", [0x80]),
            ("text/plain; charset=utf-16", [0x61]), ("text/plain; charset=utf-16le", [0x00, 0xD8]),
            ("text/plain; charset=klingon", [0x61]), ("text/plain; charset=cp1252", [0x81]),
        ] as [(String, [UInt8])])
    func undecodableStringsAreTypedErrors(type: String, bytes: [UInt8]) {
        #expect(code(StringResponseSerializer(), makeResponse(Data(bytes), type: type)) == .decodingFailed)
    }

    @Test func fallbackCharsetIsUsedWithoutACharset() throws {
        let serializer = StringResponseSerializer(fallbackCharset: .latin1)
        #expect(try serializer.serialize(makeResponse(Data([0xE9]), type: "text/plain")) == "é")
    }
}
