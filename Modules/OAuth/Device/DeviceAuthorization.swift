public import FoundationEssentials
internal import LinnetJSON
internal import LinnetMessages

extension OAuthClient {
    /// The page and the code for a login on another device (RFC 8628, section 3.2).
    public struct DeviceAuthorization: Sendable, Hashable {
        /// The code that the user enters, of at most 64 visible characters.
        public let userCode: String
        /// The page where the user enters the code.
        public let verificationURI: URL
        /// The page with the code in its address, for example for a QR code; nil if the issuer has none.
        public let verificationURIComplete: URL?
        /// How long the code is valid.
        public let lifetime: Duration

        /// The code that gets the token.
        let deviceCode: String
        /// The shortest time between two requests.
        let interval: Duration

        init(_ object: JSONObject, endpoint: String) throws(OAuthError) {
            guard let deviceCode = object["device_code"]?.string, let userCode = object["user_code"]?.string else {
                throw .invalidResponse(endpoint, "it has no codes")
            }
            guard deviceCode.utf8.count <= OAuthToken.sizeLimit else {
                throw OAuthError(.tooLarge, "The \(endpoint) sent a code of more than 64 KiB.")
            }
            // It is printed in terminals.
            guard 1...64 ~= userCode.unicodeScalars.count, userCode.oneLine == userCode else {
                throw .invalidResponse(endpoint, "its user code cannot be shown")
            }
            guard let verificationURI = try Self.page("verification_uri", of: object, endpoint) else {
                throw .invalidResponse(endpoint, "it has no verification URI")
            }
            guard let lifetime = try OAuthToken.seconds("expires_in", of: object, endpoint) else {
                throw .invalidResponse(endpoint, "its codes have no lifetime")
            }
            let interval = try OAuthToken.seconds("interval", of: object, endpoint)
            self.userCode = userCode
            self.deviceCode = deviceCode
            self.verificationURI = verificationURI
            verificationURIComplete = try Self.page("verification_uri_complete", of: object, endpoint)
            self.lifetime = .seconds(lifetime)
            // Without one it is 5 seconds (section 3.2); 0 would be a flood.
            self.interval = .seconds(max(1, interval ?? 5))
        }

        private static func page(
            _ key: String, of object: JSONObject, _ endpoint: String
        ) throws(OAuthError) -> URL? {
            guard let value = object[key], !value.isNull else { return nil }
            guard let text = value.string, text.utf8.count <= 2048, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
                let origin = Origin(text), origin.isSecure || origin.isLoopback, let url = URL(string: text)
            else {
                throw .invalidResponse(endpoint, "\(key) is not an https URL")
            }
            return url
        }
    }
}

extension OAuthClient.DeviceAuthorization: CustomReflectable {
    /// Shows what the user sees, without the device code.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "userCode": userCode, "verificationURI": verificationURI,
                "verificationURIComplete": verificationURIComplete as Any, "lifetime": lifetime, "interval": interval,
            ])
    }
}
