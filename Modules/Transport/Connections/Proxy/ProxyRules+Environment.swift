extension ProxyRules {
    /// The proxies of environment variables; see ``ProxyPolicy/environment``.
    init(environment: [String: String]) throws(TransportError) {
        http = try Self.proxy(["http_proxy", "all_proxy", "ALL_PROXY"], environment)
        https = try Self.proxy(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"], environment)
        exceptions = ProxyExceptions(list: Self.first(["no_proxy", "NO_PROXY"], environment)?.value ?? "")
    }

    private static func proxy(
        _ names: [String], _ environment: [String: String]
    ) throws(TransportError) -> Proxy? {
        guard let variable = first(names, environment) else { return nil }
        do {
            return try Proxy(variable.value)
        } catch {
            throw TransportError(
                .invalidConfiguration, "The environment variable \(variable.name): \(error.message)", underlying: error)
        }
    }

    /// The first variable that is not empty.
    private static func first(
        _ names: [String], _ environment: [String: String]
    ) -> (name: String, value: String)? {
        for name in names {
            if let value = environment[name], !value.isEmpty { return (name, value) }
        }
        return nil
    }
}
