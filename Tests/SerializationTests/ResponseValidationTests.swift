import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ResponseValidationTests {
    @Test func every2xxIsAccepted() throws {
        for status in 200..<300 { try ResponseValidation().validate(makeResponse("x", status: status)) }
    }

    @Test func everyOtherStatusIsATypedErrorWithTheResponse() {
        for status in Array(100..<200) + Array(300..<600) {
            let error = #expect(throws: SerializationError.self) {
                try ResponseValidation().validate(makeResponse("body", status: status))
            }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.response?.head.status.code == status)
            #expect(error?.response?.body == Data("body".utf8))
            #expect(error?.message.contains("\(status)") == true)
        }
    }

    @Test(
        arguments: [
            ("text/html", "text/html", true), ("text/html; charset=utf-8", "text/html", true),
            ("TEXT/HTML", "text/html", true),
            ("text/html", "Text/*", true), ("text/html", "*/*", true), ("image/png", "text/*", false),
            ("application/problem+json", "application/*+json", true), ("application/json", "application/*+json", false),
            ("application/+json", "application/*+json", false), ("model/gltf+json", "*/*+json", true),
            ("application/jsonx", "application/json", false), ("nonstandard/json", "application/json", false),
            (nil, "application/json", false), ("garbage", "application/json", false), (nil, "*/*", true),
            ("garbage", "*/*", true),
            ("text/html", "text", false), ("text/html;q=\"a;b\"", "text/html", true),
            ("text/html,text/plain", "text/html", false),
        ] as [(String?, String, Bool)])
    func contentTypesAreMatchedByPattern(type: String?, pattern: String, accepted: Bool) {
        let validation = ResponseValidation(contentTypes: [pattern])
        let result = Result { try validation.validate(makeResponse("x", type: type)) }
        if accepted {
            #expect(throws: Never.self) { try result.get() }
        } else {
            let error = #expect(throws: SerializationError.self) { try result.get() }
            #expect(error?.code == .unacceptableContentType)
        }
    }

    @Test(arguments: [nil, "text/html", "garbage"] as [String?]) func emptyBodiesPassWithAnyContentType(type: String?)
        throws
    {
        for status in [200, 204, 205] {
            try ResponseValidation(contentTypes: ["application/json"]).validate(
                makeResponse("", status: status, type: type))
        }
    }

    @Test func emptyBodiesCanBeRefusedWhereContentIsAllowed() throws {
        var validation = ResponseValidation()
        validation.acceptsEmptyBody = false
        for status in [204, 205] { try validation.validate(makeResponse("", status: status)) }
        var head = makeResponse("")
        head.requestMethod = .head
        try validation.validate(head)
        try validation.validate(makeResponse("x"))
        let error = #expect(throws: SerializationError.self) { try validation.validate(makeResponse("")) }
        #expect(error?.code == .emptyBody)
        let status = #expect(throws: SerializationError.self) { try validation.validate(makeResponse("", status: 500)) }
        #expect(status?.code == .unacceptableStatus)
        #expect((status?.underlying as? SerializationError)?.code == .emptyBody)
    }

    @Test func messagesAreSentences() {
        let validation = ResponseValidation(contentTypes: ["a/b", "c/*"])
        for (response, expected) in [
            (makeResponse("x", status: 404), "The server answered with status 404."),
            (
                makeResponse("x", type: "d/e;f=g"),
                "The content type is d/e, which is not among those accepted: a/b, c/*."
            ),
            (makeResponse("x", type: nil), "The response has no content type; accepted are a/b, c/*."),
            (
                makeResponse("x", type: "so?"),
                "The Content-Type \"so?\" is not a media type such as text/plain; accepted are a/b, c/*."
            ),
        ] {
            let error = #expect(throws: SerializationError.self) { try validation.validate(response) }
            #expect(error?.message == expected)
        }
    }

    @Test func dataWithoutAContentTypeIsRefused() {
        let validation = ResponseValidation(contentTypes: ["text/html"])
        let error = #expect(throws: SerializationError.self) {
            try validation.validate(makeResponse("x", status: 205, type: nil))
        }
        #expect(error?.code == .unacceptableContentType)
    }

    @Test func statusIsTheErrorAndContentTypeUnderliesIt() {
        let error = #expect(throws: SerializationError.self) {
            try ResponseValidation(contentTypes: ["a/b"]).validate(makeResponse("x", status: 500))
        }
        #expect(error?.code == .unacceptableStatus)
        #expect((error?.underlying as? SerializationError)?.code == .unacceptableContentType)
    }

    @Test func anyStatusSetCanBeAccepted() throws {
        var codes = RangeSet(200..<300)
        codes.insert(contentsOf: 404..<405)
        let validation = ResponseValidation(statusCodes: codes)
        try validation.validate(makeResponse("", status: 404))
        #expect(throws: SerializationError.self) { try validation.validate(makeResponse("", status: 405)) }
        try ResponseValidation.none.validate(makeResponse("x", status: 500, type: nil))
    }

    @Test(
        arguments: [
            (["application/json", "application/json"], "application/json", nil),
            (["text/html;charset=gbk", "text/html"], "text/html", "gbk"),
            (["text/html;charset=gbk", "text/plain"], "text/plain", nil),
            (["text/html;charset=gbk", "text/html;charset=big5"], "text/html", "big5"),
            (["text/html", "nonsense", "*/*"], "text/html", nil),
            (["a/b;x=\"1,c/d\\\",e/f\""], "a/b", nil),
        ] as [([String], String, String?)])
    func lastValidContentTypeCounts(values: [String], essence: String, charset: String?) throws {
        var response = makeResponse("x", type: nil)
        for value in values { response.head.headerFields.append(HTTPField(name: .contentType, value: value)) }
        #expect(response.mediaType?.essence == essence)
        #expect(response.mediaType?.parameter("charset") == charset)
        try ResponseValidation(contentTypes: [essence]).validate(response)
        #expect(throws: SerializationError.self) { try ResponseValidation(contentTypes: ["x/y"]).validate(response) }
    }

    @Test(arguments: [
        "application/json; charset=", "application/json; charset", "application/json;;\"", "Application/JSON ;",
    ])
    func malformedParametersOfAContentTypeAreIgnored(field: String) throws {
        #expect(try JSONResponseSerializer().serialize(makeResponse("[1]", type: field)) == [1])
    }
}
