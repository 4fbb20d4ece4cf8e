public import FoundationEssentials
public import LinnetSerialization

extension HTTPSession {
    /// What an ``HTTPSession`` is made with.
    public struct Configuration: Sendable {
        /// What sends the requests.
        public var session = Session.Configuration()
        /// How parameters are written. The default is `FormRequestSerializer`.
        public var requestSerializer: any RequestSerializer = FormRequestSerializer()
        /// How responses are read where no type and no serializer is asked for. Its validation holds for those that
        /// are read as a type, too.
        public var responseSerializer = JSONResponseSerializer()
        /// How JSON is decoded as a type; the default reads dates in ISO 8601.
        public var decoder = JSONBodyDecoder()

        /// The defaults.
        public init() {}

        static func make(_ configure: (inout Configuration) throws -> Void) throws(SessionError) -> Configuration {
            var configuration = Configuration()
            do {
                try configure(&configuration)
                return configuration
            } catch {
                throw SessionError(configuring: error)
            }
        }

        func serializer<T: Decodable & Sendable>(for type: T.Type) -> DecodableResponseSerializer<T> {
            DecodableResponseSerializer(type, decoder: decoder, validation: responseSerializer.validation)
        }
    }
}
