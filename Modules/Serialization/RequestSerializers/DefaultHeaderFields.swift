import FoundationEssentials
public import HTTPTypes
internal import LinnetMessages

extension HTTPFields {
    /// The value of an `Accept-Language` field for the locale of an environment, with quality values from 1 down to
    /// 0.5 (RFC 9110, section 12.5.4).
    ///
    /// The locale is in `LC_ALL`, `LC_MESSAGES` or `LANG`, in this order, as for setlocale. The list in `LANGUAGE`
    /// has priority unless the locale is C, as for gettext. A language with a region is followed by the language
    /// alone. The C locale is English.
    public static func acceptLanguage(environment: [String: String]) -> String {
        DefaultHeaderFields.acceptLanguage(environment: environment)
    }

    /// The value of a `User-Agent` field: `name/version (Linux; x86_64) Linnet/…`, which ends with the version of this
    /// package.
    ///
    /// Characters that are not allowed in a token (RFC 9110, section 5.6.2) become `-`.
    public static func userAgent(name: String, version: String) -> String {
        DefaultHeaderFields.userAgent(product: name, version: version)
    }
}

/// The header fields that request serializers add by default.
enum DefaultHeaderFields {
    static let standard: HTTPFields = {
        let process = ProcessInfo.processInfo
        var fields = HTTPFields()
        fields[.acceptLanguage] = acceptLanguage(environment: process.environment)
        fields[.userAgent] = userAgent(product: process.processName)
        return fields
    }()

    /// See `HTTPFields.acceptLanguage(environment:)`.
    static func acceptLanguage(environment: [String: String]) -> String {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        var tags: [String] = []
        if let own = locale.flatMap(languageTag) {
            let list = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { languageTag(String($0)) }
            for tag in list + [own] {
                if !tags.contains(tag) { tags.append(tag) }
            }
            for tag in tags where tag.contains("-") {
                let language = String(tag.prefix { $0 != "-" })
                if let last = tags.lastIndex(where: { $0.hasPrefix(language + "-") }), !tags.contains(language) {
                    tags.insert(language, at: last + 1)
                }
            }
        }
        // The C locale is English.
        if tags.isEmpty { tags = ["en"] }
        let qualities = ["1", "0.9", "0.8", "0.7", "0.6", "0.5"]
        return zip(tags, qualities).map { "\($0);q=\($1)" }.joined(separator: ", ")
    }

    /// `de_DE.UTF-8@euro` becomes `de-DE`; nil for C, POSIX and malformed names.
    private static func languageTag(_ locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard let language = parts.first, (2...8).contains(language.utf8.count), name != "POSIX",
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isAlphanumeric) })
        else { return nil }
        return parts.joined(separator: "-")
    }

    static func userAgent(product: String, version: String = "0") -> String {
        let name = product.isEmpty ? "Linnet" : token(product)
        let number = version.isEmpty ? "0" : token(version)
        return "\(name)/\(number) (\(operatingSystem); \(architecture)) Linnet/\(LinnetVersion.current)"
    }

    private static func token(_ text: String) -> String {
        String(decoding: text.utf8.map { ASCII.isToken($0) ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
    }

    private static var operatingSystem: String {
        #if os(Linux)
        "Linux"
        #elseif os(macOS)
        "macOS"
        #else
        "unknown"
        #endif
    }

    private static var architecture: String {
        #if arch(x86_64)
        "x86_64"
        #elseif arch(arm64)
        "aarch64"
        #elseif arch(arm)
        "arm"
        #elseif arch(riscv64)
        "riscv64"
        #else
        "unknown"
        #endif
    }
}
