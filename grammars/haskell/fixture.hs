{-# LANGUAGE GADTs, TypeFamilies, PatternSynonyms #-}
-- | Shows every construct.
module Shop.Order
  ( Order (..)
  , total
  ) where

import Control.Monad (forM_, when)
import qualified Data.Map.Strict as Map
import Shop.Pricing hiding (rate)

-- | Not in the outline.
data Order = Order
  { orderTotal :: !Int      -- ^ the total
  , orderItems, orderNotes :: [Item]
  } deriving (Show, Eq)

data State = Open | Paid Int | Sent { sentAt :: Int }

data Expr a where
  Number :: Int -> Expr Int
  Add :: Expr Int -> Expr Int -> Expr Int

newtype Wrapper m a = Wrapper { unwrap :: m a }
  deriving newtype (Functor)

type Prices = Map.Map String Int

type family Element c
type instance Element [a] = a

class (Eq a) => Saleable a where
  type Currency a
  price :: a -> Int
  price _ = 0
  {-# MINIMAL name #-}
  name, label :: a -> String

instance Saleable Order where
  price = orderTotal
  name order = go (orderItems order)
    where
      go [] = ""
      go (x : xs) = label x ++ go xs

deriving instance Ord State

pattern Empty :: Order
pattern Empty = Order 0 [] []

infixl 6 |+|

(|+|) :: Order -> Order -> Order
a |+| b = merge a b

defaultTimeout :: Int
defaultTimeout = 30

limit, size :: Int
limit = 1
size = 2

-- | The sum.
total :: (Saleable a, Foldable t)
      => t a   -- ^ the things
      -> Int
total things = foldr step 0 things
  where
    step :: Saleable a => a -> Int -> Int
    step x acc = price x + acc

state :: State -> Int -> Bool
state Open 0 = True
state (Paid n) m
  | n > m = True
  | otherwise = helper n
state _ _ = False

unsigned x = do
  let local = Map.empty
  when (x > 1) $ forM_ [x] print
  return local

main :: IO ()
main = print (total [])

foreign import ccall "math.h sin" c_sin :: Double -> Double
