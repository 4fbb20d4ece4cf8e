#if Configuration
public import Configuration
internal import FoundationEssentials
internal import LinnetJSON
public import LinnetSession
public import LinnetSettings

extension HTTPSession.Settings {
    /// Reads settings from a configuration: environment variables, files, command lines.
    ///
    /// ```swift
    /// let config = ConfigReader(provider: EnvironmentVariablesProvider())
    /// let settings = try HTTPSession.Settings(reading: config.scoped(to: "http"))
    /// let session = try HTTPSession(settings: settings) { $0.logger = logger }
    /// ```
    /// With this reader, `HTTP_TIMEOUTS_REQUEST=30` limits each request to 30 seconds. The keys are the paths in the
    /// settings' JSON, joined by dots; <doc:LinnetConfiguration> lists them. Durations are numbers of seconds, and
    /// `none` where there is no limit. `securityPolicy` is the path of a policy file. Missing keys have the
    /// defaults.
    ///
    /// - Throws: `SessionError.Code.invalidConfiguration`, whose message has the key, for a value of the wrong kind
    ///   or outside of its range, and for a policy file that cannot be read.
    public init(reading reader: ConfigReader) throws(SessionError) {
        var tree = JSONValue.object(JSONObject())
        for setting in SessionSetting.all {
            do throws(InvalidSetting) {
                guard let value = try reader.value(of: setting) else { continue }
                try tree.set(setting.kind == .file ? Self.contents(of: value, for: setting) : value, at: setting)
            } catch {
                throw SessionError(
                    .invalidConfiguration, "The value of \(error.key) is not \(error.expected).")
            }
        }
        try self.init(json: tree.data())
    }

    private static func contents(
        of path: JSONValue, for setting: SessionSetting
    ) throws(InvalidSetting) -> JSONValue {
        guard let path = path.string, let data = try? Data(contentsOf: URL(fileURLWithPath: path)),
            let value = try? JSONValue(parsing: data)
        else { throw InvalidSetting(key: "\(setting.key)", expected: "the path of a file with JSON") }
        return value
    }
}

extension JSONValue {
    fileprivate mutating func set(_ value: JSONValue, at setting: SessionSetting) throws(InvalidSetting) {
        guard self.set(value, at: setting.path[...]) else {
            throw InvalidSetting(
                key: "\(setting.key)", expected: "allowed beside \(setting.path.dropLast().joined(separator: "."))")
        }
    }

    private mutating func set(_ value: JSONValue, at path: ArraySlice<String>) -> Bool {
        guard let name = path.first else {
            self = value
            return true
        }
        guard case .object(var object) = self else { return false }
        var child = object[name] ?? .object(JSONObject())
        guard child.set(value, at: path.dropFirst()) else { return false }
        object[name] = child
        self = .object(object)
        return true
    }
}
#endif
