import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

/// The defaults for writing and reading JSON agree.
@Suite(.timeLimit(.minutes(1))) struct RoundTripTests {
    private struct Order: Codable, Equatable, Sendable {
        var created: Date
        var price: Decimal
        var raw: Data
        var note: String?
    }

    private func read(_ request: SessionRequest) throws -> Order {
        let body = try #require(request.body?.data)
        return try DecodableResponseSerializer(Order.self).serialize(makeResponse(body))
    }

    @Test(arguments: [0, 0.125, 0.999, 1_893_553_445, -1e9] as [Double])
    func datesAreReadBackToTheMillisecond(seconds: Double) throws {
        let order = Order(created: Date(timeIntervalSince1970: seconds), price: 1, raw: Data([1, 255]), note: nil)
        let encoded = try JSONRequestSerializer().serialize(try makeRequest(method: .post), encoding: order)
        #expect(try read(encoded) == order)
        let parameters = try JSONRequestSerializer().serialize(
            try makeRequest(method: .post), parameters: try RequestParameters(encoding: order))
        #expect(try read(parameters) == order)
    }

    @Test(arguments: [0, 1_893_553_445, -4_133_944_086] as [Double]) func millisecondsAreNotTruncated(start: Double)
        throws
    {
        for millisecond in 1..<1000 {
            let date = Date(timeIntervalSince1970: start + Double(millisecond) / 1000)
            let text = try QueryEncoder().encode(["d": date])
            let digits = String(1000 + millisecond).dropFirst()
            #expect(text.hasSuffix(".\(digits)Z"), "\(text)")
        }
    }

    @Test(arguments: ["0.1", "12345678901234567890.123456789", "-0.000000000000000001", "100", "0"])
    func decimalsAreNumbersOnBothPathsAndReadBackExactly(text: String) throws {
        let price = try #require(Decimal(string: text))
        let order = Order(created: Date(timeIntervalSince1970: 0), price: price, raw: Data(), note: nil)
        let encoded = try JSONRequestSerializer().serialize(try makeRequest(method: .post), encoding: order)
        let parameters = try JSONRequestSerializer().serialize(
            try makeRequest(method: .post), parameters: try RequestParameters(encoding: order))
        for request in [encoded, parameters] {
            let body = try #require(request.body?.data)
            let value = try JSONValue(parsing: body)
            guard case .number(let number) = value["price"] else {
                Issue.record("\(value) has no number for the price.")
                continue
            }
            #expect(number.text == text)
            #expect(try read(request) == order)
        }
    }

    @Test func decimalsAreTextElsewhere() throws {
        let parameters: RequestParameters = ["a": Decimal(string: "12.50") ?? 0]
        #expect(try QueryEncoder().encode(parameters) == "a=12.5")
        #expect(try PropertyListValue(parameters.root)["a"] == "12.5")
        #expect(try RequestParameters(encoding: parameters) == parameters)
        let nothing = #expect(throws: SerializationError.self) {
            try JSONRequestSerializer().serialize(try makeRequest(method: .post), parameters: ["a": Decimal.nan])
        }
        #expect(nothing?.code == .encodingFailed)
    }

    @Test func messagesNameADateInAnotherFormat() throws {
        let body = #"{"created":12,"price":1,"raw":""}"#
        let number = #expect(throws: SerializationError.self) {
            try DecodableResponseSerializer(Order.self).serialize(makeResponse(body))
        }
        #expect(number?.message.contains("the value at created is not of type String") == true)
        let text = #expect(throws: SerializationError.self) {
            try DecodableResponseSerializer(Order.self).serialize(
                makeResponse(#"{"created":"2 May","price":1,"raw":""}"#))
        }
        #expect(text?.message.contains(#"at created, "2 May" is not a date in ISO 8601."#) == true)
    }

    @Test func serializersKeepTheSettingsOfACoder() throws {
        struct Names: Codable, Equatable { var createdAt: Int }
        let text = Data(#"{"created_at":1}"#.utf8)
        let original = JSONDecoder()
        original.keyDecodingStrategy = .convertFromSnakeCase
        let serializer = DecodableResponseSerializer(Names.self, decoder: original)
        original.keyDecodingStrategy = .useDefaultKeys
        #expect(try serializer.serialize(makeResponse(text)) == Names(createdAt: 1))

        var writer = JSONBodyEncoder()
        writer.keyEncodingStrategy = .convertToSnakeCase
        let request = try JSONRequestSerializer().serialize(
            try makeRequest(method: .post), encoding: Names(createdAt: 1), encoder: writer)
        #expect(bodyText(request) == #"{"created_at":1}"#)
    }
}
