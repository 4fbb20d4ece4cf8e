import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Synchronization
import Testing

@Suite("Closures that validate", .timeLimit(.minutes(1))) struct ValidationClosureTests {
    private struct Refusal: Error, Equatable, CustomStringConvertible {
        var description: String
    }

    private static let tag = ResponseValidation().validating { head in
        guard head.headerFields[.eTag] != nil else { throw Refusal(description: "There is no tag.") }
    }

    private func tagged(_ body: String, status: Int = 200) -> SerializedResponse {
        var response = makeResponse(body, status: status)
        response.head.headerFields[.eTag] = "1"
        return response
    }

    @Test func aClosureOverTheHeadRefusesWithItsError() throws {
        try Self.tag.validate(tagged("1"))
        let error = #expect(throws: SerializationError.self) { try Self.tag.validate(makeResponse("1")) }
        #expect(error?.code == .unacceptableResponse)
        #expect(error?.message == "The validation refuses the response: There is no tag.")
        #expect(error?.underlying as? Refusal == Refusal(description: "There is no tag."))
        #expect(error?.response?.body == Data("1".utf8))
    }

    @Test func statusAndContentTypeComeBeforeAClosure() {
        let status = #expect(throws: SerializationError.self) { try Self.tag.validate(makeResponse("1", status: 404)) }
        #expect(status?.code == .unacceptableStatus)
        var validation = Self.tag
        validation.contentTypes = ["image/png"]
        let type = #expect(throws: SerializationError.self) { try validation.validate(makeResponse("1")) }
        #expect(type?.code == .unacceptableContentType)
    }

    @Test func closuresAreCalledInOrderUntilOneThrows() {
        let calls = Mutex<[Int]>([])
        let validation = (1...3).reduce(ResponseValidation()) { validation, number in
            validation.validating { _ in
                calls.withLock { $0.append(number) }
                if number == 2 { throw Refusal(description: "two") }
            }
        }
        let error = #expect(throws: SerializationError.self) { try validation.validate(makeResponse("1")) }
        #expect(error?.underlying as? Refusal == Refusal(description: "two"))
        #expect(calls.withLock { $0 } == [1, 2])
    }

    @Test func aSerializationErrorOfAClosureIsThrownWithTheResponse() {
        let validation = ResponseValidation().validating { _ in
            throw SerializationError(code: .emptyBody, message: "None.")
        }
        let error = #expect(throws: SerializationError.self) { try validation.validate(makeResponse("1")) }
        #expect(error?.code == .emptyBody && error?.response?.body == Data("1".utf8))
    }

    /// A validation that came back without its closure would accept more than before.
    @Test func aValidationWithAClosureIsNotEncoded() throws {
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(Self.tag) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(JSONResponseSerializer(validation: Self.tag)) }
    }

    @Test func aValidationWithAClosureEqualsItsCopies() {
        let copy = Self.tag
        #expect(copy == Self.tag && copy.hashValue == Self.tag.hashValue)
        #expect(Self.tag != ResponseValidation() && Self.tag.validating { _ in } != Self.tag)
    }

    // MARK: Over the body

    private static var serializer: some ResponseSerializer<[Int]> {
        DecodableResponseSerializer([Int].self).validating { response in
            if response.body.starts(with: Data("{".utf8)) { throw Refusal(description: "an object") }
        }
    }

    @Test func aClosureOverTheBodyRefusesBeforeDecodingFails() throws {
        #expect(try Self.serializer.serialize(makeResponse("[1]")) == [1])
        let refused = #expect(throws: SerializationError.self) { try Self.serializer.serialize(makeResponse("{}")) }
        #expect(refused?.code == .unacceptableResponse)
        #expect(refused?.underlying as? Refusal == Refusal(description: "an object"))
        #expect(refused?.response?.body == Data("{}".utf8))
        let unread = #expect(throws: SerializationError.self) { try Self.serializer.serialize(makeResponse("1")) }
        #expect(unread?.code == .decodingFailed)
    }

    @Test(arguments: [(404, "application/json"), (200, "text/html"), (200, nil)] as [(Int, String?)])
    func theStatusAndTheContentTypeComeBeforeIt(status: Int, type: String?) {
        let calls = Atomic(0)
        let serializer = JSONResponseSerializer().validating { _ in calls.add(1, ordering: .relaxed) }
        let error = #expect(throws: SerializationError.self) {
            try serializer.serialize(makeResponse("{}", status: status, type: type))
        }
        #expect(error?.code == (status == 404 ? .unacceptableStatus : .unacceptableContentType))
        #expect(calls.load(ordering: .relaxed) == 0)
    }

    @Test func itIsCalledOnceForEachResponse() {
        let calls = Atomic(0)
        let serializer = JSONResponseSerializer().validating { _ in calls.add(1, ordering: .relaxed) }
        for body in ["1", "no JSON"] { _ = try? serializer.serialize(makeResponse(body)) }
        #expect(calls.load(ordering: .relaxed) == 2)
    }
}
