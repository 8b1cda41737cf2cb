{-# LANGUAGE GADTs #-}
-- | Bakes pies.
module Pie.Oven
  ( Pie (..)
  , bake
  , (<+>)
  ) where

import qualified Data.Map as Map
import Data.List (sortOn)

infixr 5 <+>

-- | A pie.
data Pie a
  = Apple { slices :: Int, filling :: a }
  | Cherry Int
  | Plain
  deriving (Show, Eq)

newtype Oven m = Oven { runOven :: m Int }
type Recipe = [String]

data Term a where
  Number :: Int -> Term Int
  Flag, Other :: Bool -> Term Bool

class Monad m => Baker m where
  type Result m
  heat :: Int -> m ()
  rest :: m ()
  rest = pure ()

instance Show (Oven m) where
  show _ = "oven"

instance Baker IO where
  type Result IO = Int
  heat _ = pure ()

-- | Bakes a pie.
bake :: Int -> Pie a -> Pie a
bake 0 pie = pie
bake times pie
  | times > 3 = burnt
  | otherwise = bake (times - 1) pie
  where
    burnt = pie
    helper x = x

(<+>) :: Pie a -> Pie a -> Pie a
Plain <+> other = other
pie <+> _ = pie

width, height :: Int
width = 3
height = 4

count :: Pie a -> Int
count Plain = 0
count (Cherry n) = n

count' = count

(small, large) = (1, 9)

a `over` b = a

type family Crust a where
  Crust Int = Bool

pattern Big :: Pie Int
pattern Big = Cherry 9

main :: IO ()
main = do
  let local = 3
  print local
