internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCompression
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetSerialization
public import LinnetSession
internal import LinnetTransport

/// Coded as an object with the names of the configuration's properties; default values are omitted.
extension HTTPSession.Settings: Codable {
    private static let identifierKey = TextKey(stringValue: "identifier")
    private static let baseURLKey = TextKey(stringValue: "baseURL")

    /// Decodes settings; ``init(json:)`` also detects repeated keys.
    public init(from decoder: any Decoder) throws {
        let entries = CodedSetting.all
        try decoder.refuseKeys(except: ([Self.identifierKey, Self.baseURLKey] + entries.map(\.key)).map(\.stringValue))
        let container = try decoder.container(keyedBy: TextKey.self)
        var configuration = HTTPSession.Configuration()
        for entry in entries where container.contains(entry.key) { try entry.read(container, &configuration) }
        self.init(
            identifier: try container.decodeIfPresent(String.self, forKey: Self.identifierKey),
            baseURL: try container.decodeIfPresent(URL.self, forKey: Self.baseURLKey), whole: configuration)
    }

    /// Encodes the settings, without secrets.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encodeIfPresent(identifier, forKey: Self.identifierKey)
        try container.encodeIfPresent(baseURL?.absoluteURL.withoutUserInfo, forKey: Self.baseURLKey)
        let defaults = HTTPSession.Configuration()
        for entry in CodedSetting.all { try entry.write(configuration, defaults, &container) }
    }
}

/// One storable property of a configuration.
private struct CodedSetting: Sendable {
    typealias Configuration = HTTPSession.Configuration

    let key: TextKey
    let read: @Sendable (KeyedDecodingContainer<TextKey>, inout Configuration) throws -> Void
    let write:
        @Sendable (Configuration, _ defaults: Configuration, inout KeyedEncodingContainer<TextKey>) throws -> Void

    static let all: [CodedSetting] = [
        .securityPolicy,
        .value("tls", \.tls),
        .value("timeouts", \.timeouts),
        .value("httpVersions", \.httpVersions),
        .value("http2", \.http2),
        .proxies,
        .value("resolution", \.resolution),
        .value("pool", \.pool),
        .value("maximumBodySize", \.maximumBodySize),
        .value("responseLimits", \.responseLimits),
        .value("decodingLimits", \.decodingLimits),
        .value("continuePolicy", \.continuePolicy),
        .seconds("continueTimeout", \.continueTimeout),
        .eventLoops,
        .headerFields,
        .value("redirectPolicy", \.redirectPolicy),
        .value("retryPolicy", \.retryPolicy),
        .value("retryBudget", \.retryBudget),
        .value("hedging", \.hedging),
        .seconds("progressInterval", \.progressInterval),
        .requestSerializer,
        .value("responseSerializer", \.responseSerializer),
        .value("isCacheShared", \.isCacheShared),
        .value("collapsesEqualRequests", \.collapsesEqualRequests),
        .value("waitsForConnectivity", \.waitsForConnectivity),
        .limit("connectivityTimeout", \.connectivityTimeout),
    ]

    private static func value<Value: Codable & Equatable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Configuration, Value> & Sendable
    ) -> CodedSetting {
        let key = TextKey(stringValue: name)
        return CodedSetting(key: key) { container, configuration in
            configuration[keyPath: path] = try container.decode(Value.self, forKey: key)
        } write: { configuration, defaults, container in
            guard configuration[keyPath: path] != defaults[keyPath: path] else { return }
            try container.encode(configuration[keyPath: path], forKey: key)
        }
    }

    private static func seconds(
        _ name: String, _ path: any WritableKeyPath<Configuration, Duration> & Sendable
    ) -> CodedSetting {
        let key = TextKey(stringValue: name)
        return CodedSetting(key: key) { container, configuration in
            guard let duration = try container.seconds(key) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "The value must be a number of seconds.")
            }
            configuration[keyPath: path] = duration
        } write: { configuration, defaults, container in
            guard configuration[keyPath: path] != defaults[keyPath: path] else { return }
            try container.encode(seconds: configuration[keyPath: path], forKey: key)
        }
    }

    private static func limit(
        _ name: String, _ path: any WritableKeyPath<Configuration, Duration?> & Sendable
    ) -> CodedSetting {
        let key = TextKey(stringValue: name)
        return CodedSetting(key: key) { container, configuration in
            configuration[keyPath: path] = try container.seconds(key)
        } write: { configuration, defaults, container in
            guard configuration[keyPath: path] != defaults[keyPath: path] else { return }
            try container.encode(seconds: configuration[keyPath: path], forKey: key)
        }
    }

    private static let securityPolicy: CodedSetting = {
        let key = TextKey(stringValue: "securityPolicy")
        return CodedSetting(key: key) { container, configuration in
            let document = try container.decode(SecurityPolicyDocument.self, forKey: key)
            configuration.securityPolicy = try CodedSetting.located(at: container.codingPath + [key]) {
                () throws(SecurityError) in
                try SecurityPolicyFile(document).makePolicy()
            }
        } write: { configuration, _, container in
            let document = try CodedSetting.located(at: [key]) { () throws(SecurityError) in
                try SecurityPolicyDocument(configuration.securityPolicy)
            }
            guard document != SecurityPolicyDocument() else { return }
            try container.encode(document, forKey: key)
        }
    }()

    /// Adds the location of the policy to the locations within it.
    private static func located<Value>(
        at path: [any CodingKey], _ make: () throws(SecurityError) -> Value
    ) throws(SecurityError) -> Value {
        do throws(SecurityError) {
            return try make()
        } catch {
            var error = error
            if error.file == nil {
                error.path = PolicyPath.text(path) + (error.path.map { $0.isEmpty ? "" : "." + $0 } ?? "")
            }
            throw error
        }
    }

    private static let proxies: CodedSetting = {
        let key = TextKey(stringValue: "proxies")
        return CodedSetting(key: key) { container, configuration in
            configuration.proxies = try container.decode(ProxyPolicy.self, forKey: key)
        } write: { configuration, _, container in
            if !configuration.proxies.isNone { try container.encode(configuration.proxies, forKey: key) }
        }
    }()

    private static let eventLoops: CodedSetting = {
        let key = TextKey(stringValue: "eventLoops")
        return CodedSetting(key: key) { container, configuration in
            let form = try container.decode([String: Int].self, forKey: key)
            // A file must not start more threads than a machine can use.
            guard form.count == 1, let threads = form["dedicated"], 1...1024 ~= threads else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container,
                    debugDescription: "The value must be the number of threads as {\"dedicated\": 2}, from 1 to 1024.")
            }
            configuration.eventLoops = .dedicated(threads: threads)
        } write: { configuration, _, container in
            guard case .dedicated(let threads) = configuration.eventLoops else { return }
            try container.encode(["dedicated": threads], forKey: key)
        }
    }()

    private static let headerFields: CodedSetting = {
        let key = TextKey(stringValue: "headerFields")
        return CodedSetting(key: key) { container, configuration in
            guard let fields = try container.headerFields(key) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "The value must be an array of header fields.")
            }
            configuration.headerFields = fields
        } write: { configuration, _, container in
            let fields = configuration.headerFields.withoutSecrets(of: configuration.redaction)
            if !fields.isEmpty { try container.encode(fields, forKey: key) }
        }
    }()

    private static let requestSerializer: CodedSetting = {
        let key = TextKey(stringValue: "requestSerializer")
        return CodedSetting(key: key) { container, configuration in
            configuration.requestSerializer = try container.decode(RequestSerializerForm.self, forKey: key).serializer
        } write: { configuration, _, container in
            let form = RequestSerializerForm(
                serializer: configuration.requestSerializer.withoutSecrets(of: configuration.redaction))
            if form.serializer as? FormRequestSerializer == FormRequestSerializer() { return }
            try container.encode(form, forKey: key)
        }
    }()
}

/// A request serializer as an object with a single key, its kind.
private struct RequestSerializerForm: Codable {
    private enum Kind: String, CodingKey, CaseIterable { case form, json, propertyList }

    let serializer: any RequestSerializer

    init(serializer: any RequestSerializer) { self.serializer = serializer }

    init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: Kind.self)
        guard container.allKeys.count == 1, let kind = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "The value must have one of the keys form, json and propertyList."))
        }
        serializer =
            switch kind {
            case .form: try container.decode(FormRequestSerializer.self, forKey: kind)
            case .json: try container.decode(JSONRequestSerializer.self, forKey: kind)
            case .propertyList: try container.decode(PropertyListRequestSerializer.self, forKey: kind)
            }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Kind.self)
        switch serializer {
        case let serializer as FormRequestSerializer: try container.encode(serializer, forKey: .form)
        case let serializer as JSONRequestSerializer: try container.encode(serializer, forKey: .json)
        case let serializer as PropertyListRequestSerializer: try container.encode(serializer, forKey: .propertyList)
        default:
            throw EncodingError.invalidValue(
                serializer,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "The request serializer \(type(of: serializer)) cannot be stored; use "
                        + "FormRequestSerializer, JSONRequestSerializer or PropertyListRequestSerializer."))
        }
    }
}

extension RequestSerializer {
    fileprivate func withoutSecrets(of redaction: Redaction) -> any RequestSerializer {
        guard var serializer = self as? any HTTPRequestSerializer else { return self }
        serializer.headerFields = serializer.headerFields.withoutSecrets(of: redaction)
        return serializer
    }
}

extension HTTPFields {
    /// The fields that neither the standard redaction nor this one hides.
    fileprivate func withoutSecrets(of redaction: Redaction) -> HTTPFields {
        let names = redaction.credentialNames
        return HTTPFields(filter { !names.contains($0.name) })
    }
}
