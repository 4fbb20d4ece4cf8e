import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct CompoundResponseTests {
    private enum Content: Sendable, Equatable { case json(JSONValue?), plist(PropertyListValue?), text(String) }

    private let serializer = CompoundResponseSerializer<Content>([
        JSONResponseSerializer().map(Content.json), PropertyListResponseSerializer().map(Content.plist),
        StringResponseSerializer(validation: ResponseValidation(contentTypes: ["text/*"])).map(Content.text),
    ])

    @Test func firstSuitableMemberReadsTheResponse() throws {
        #expect(try serializer.serialize(makeResponse("[1]")) == .json([1]))
        #expect(try serializer.serialize(makeResponse("<array/>", type: "application/x-plist")) == .plist([]))
        #expect(try serializer.serialize(makeResponse("hello", type: "text/plain")) == .text("hello"))
        // XML that is not a property list is read as text.
        #expect(try serializer.serialize(makeResponse("<html/>", type: "text/xml")) == .text("<html/>"))
    }

    @Test func membersAreTriedInOrder() throws {
        let all = ResponseValidation.none
        let first = CompoundResponseSerializer([
            StringResponseSerializer(validation: all).map(Content.text),
            JSONResponseSerializer(validation: all).map(Content.json),
        ])
        #expect(try first.serialize(makeResponse("[1]")) == .text("[1]"))
    }

    @Test func errorsOfAllMembersAreKept() throws {
        let response = makeResponse("<html/>", type: "application/json")
        let error = #expect(throws: SerializationError.self) { try serializer.serialize(response) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.response?.body == response.body)
        let errors = try #require(error?.memberErrors)
        #expect(errors.map(\.code) == [.decodingFailed, .unacceptableContentType, .unacceptableContentType])
        #expect(errors.first?.underlying is JSONSyntaxError)
        #expect(errors.first?.memberErrors.isEmpty == true)
    }

    @Test func unacceptableStatusIsReportedFirst() {
        let error = #expect(throws: SerializationError.self) {
            try serializer.serialize(makeResponse("[", status: 500))
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.memberErrors.count == 3)
        let lenient = CompoundResponseSerializer<Content>([
            JSONResponseSerializer(validation: .none).map(Content.json), StringResponseSerializer().map(Content.text),
        ])
        let mixed = #expect(throws: SerializationError.self) { try lenient.serialize(makeResponse("[", status: 500)) }
        #expect(mixed?.code == .unacceptableStatus)
    }

    @Test func codeThatAllMembersReportIsKept() {
        let error = #expect(throws: SerializationError.self) {
            try serializer.serialize(makeResponse("x", type: "a/b"))
        }
        #expect(error?.code == .unacceptableContentType)
        let none = #expect(throws: SerializationError.self) {
            try CompoundResponseSerializer<Content>([]).serialize(makeResponse("x"))
        }
        #expect(none?.code == .decodingFailed)
    }

    @Test func errorOfAMapUnderliesATypedError() {
        struct Reason: LocalizedError { var errorDescription: String? { "The page is a draft." } }
        let mapped = DataResponseSerializer().map { _ -> Int in throw Reason() }
        let error = #expect(throws: SerializationError.self) { try mapped.serialize(makeResponse("x")) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.underlying is Reason)
        #expect(error?.message.hasSuffix("failed: The page is a draft.") == true)
        #expect(error?.response != nil)
    }
}
