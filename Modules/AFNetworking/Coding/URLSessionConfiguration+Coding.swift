internal import Foundation  // NSCoder
internal import LinnetSession
internal import LinnetSettings

extension NSCoder {
    private static let configurationKey = "sessionConfiguration"

    /// Encodes the part of a configuration that `HTTPSession.Settings` has. One that cannot be stored is not encoded,
    /// so that no manager is decoded that sends or trusts something else; neither is one of a background session.
    func encode(configuration: URLSessionConfiguration) {
        guard allowsKeyedCoding, configuration.background == nil else { return }
        var stored = configuration.configuration
        // The policy is the manager's.
        stored.securityPolicy = .systemTrust
        guard let settings = try? HTTPSession.Settings(stored), let data = try? settings.json() else { return }
        encode(NSData(data: data), forKey: Self.configurationKey)
    }

    /// The configuration that was encoded, with cookies and a cache in memory.
    func decodeConfiguration() -> URLSessionConfiguration? {
        guard let data = decodeData(forKey: Self.configurationKey),
            let settings = try? HTTPSession.Settings(json: data)
        else { return nil }
        var configuration = settings.configuration
        let usual = HTTPSession.Configuration.ephemeral
        configuration.cookieJar = usual.cookieJar
        configuration.cacheStore = usual.cacheStore
        return URLSessionConfiguration(configuration)
    }

    /// The object of a key; nil if there is none, or if it is not of the class.
    func decode<Object: NSObject & NSCoding>(_ type: Object.Type, of key: String) -> Object? {
        guard allowsKeyedCoding, containsValue(forKey: key) else { return nil }
        return decodeObject(of: type, forKey: key)
    }
}
